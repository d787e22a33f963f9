/* Finder: look-ups in the sections of one hierarchy file, as a Python type.
 *
 * The sections are borrowed buffers, mostly of a mapped file. `close` releases them as soon as no other thread is
 * inside a look-up; each look-up works on a copy of the pointers taken while it held the GIL, so a table that
 * another thread makes meanwhile does not disturb it. */

#include <stdlib.h>

#include "../hierarchy/lookup.h"
#include "arrays.h"

enum {
    WORTH_INDEX = 1 << 12,  /* single IPv6 look-ups after which their index is made */
    WORTH_TABLES = 1 << 20, /* addresses of short arrays after which the tables are made */
};

typedef struct {
    PyObject_HEAD
    Frame frame;
    Lookup lookup;
    PyObject *look_closer; /* called with an address that is no plain text; returns its two words */
    PyObject *corrupt;     /* called with a Soundness; raises */
    int users;
    unsigned wide_asked;
    size_t asked; /* addresses of short arrays */
    bool is_closed;
} FinderObject;

static PyObject *finder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *index, *segments, *bounds6, *parent, *look_closer, *corrupt;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OOOOOO", &index, &segments, &bounds6, &parent, &look_closer, &corrupt))
        return NULL;
    FinderObject *self = (FinderObject *)PyType_GenericAlloc(type, 0); /* zeroed */
    if (self == NULL)
        return NULL;
    self->look_closer = Py_NewRef(look_closer);
    self->corrupt = Py_NewRef(corrupt);
    Frame *frame = &self->frame;
    Array indexes = take_array(frame, index, "u8"), pieces = take_array(frame, segments, "u8");
    Array bounds = take_array(frame, bounds6, "u8"), parents = take_array(frame, parent, "u4");
    bool is_power = indexes.count > 0 && (indexes.count & (indexes.count - 1)) == 0;
    expect(frame, is_power && indexes.count <= (size_t)1 << 32, "the index has no power of two as its size");
    expect(frame, bounds.count >= 4 && bounds.count % 4 == 0 && pieces.count > 0, "an empty section");
    expect(frame, parents.count > bounds.count / 4 && parents.count <= UINT32_MAX, "too few parents");
    if (frame->is_failed) {
        Py_DECREF(self);
        return NULL;
    }
    self->lookup = (Lookup){.index = indexes.data,
                            .index_size = indexes.count,
                            .segments = pieces.data,
                            .segment_count = pieces.count,
                            .bounds6 = bounds.data,
                            .rows6 = bounds.count / 4,
                            .rows4 = parents.count - bounds.count / 4,
                            .parent6 = (const uint32_t *)parents.data + (parents.count - bounds.count / 4)};
    return (PyObject *)self;
}

/* Release the file once no look-up uses it. */
static void let_go(FinderObject *self) {
    if (self->is_closed && self->users == 0) {
        release_frame(&self->frame);
        free_lookup(&self->lookup);
    }
}

static int finder_traverse(PyObject *object, visitproc visit, void *arg) {
    FinderObject *self = (FinderObject *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->look_closer);
    Py_VISIT(self->corrupt);
    return 0;
}

static int finder_clear(PyObject *object) {
    Py_CLEAR(((FinderObject *)object)->look_closer);
    Py_CLEAR(((FinderObject *)object)->corrupt);
    return 0;
}

static void finder_dealloc(PyObject *object) {
    FinderObject *self = (FinderObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    self->is_closed = true;
    let_go(self);
    finder_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *finder_close(PyObject *object, PyObject *unused) {
    (void)unused;
    ((FinderObject *)object)->is_closed = true;
    let_go((FinderObject *)object);
    return Py_NewRef(Py_None);
}

/* Raise the error that describes the fault of the file. */
static PyObject *raise_corrupt(FinderObject *self, Soundness soundness) {
    if (soundness == NO_MEMORY)
        return PyErr_NoMemory();
    return PyObject_CallFunction(self->corrupt, "i", (int)soundness);
}

static bool is_open(FinderObject *self) {
    if (self->is_closed)
        PyErr_SetString(PyExc_ValueError, "the hierarchy is closed; open it again");
    return !self->is_closed;
}

/* Look up one address. */
static PyObject *find_one(FinderObject *self, Wide address) {
    uint32_t row;
    if (!is_open(self))
        return NULL;
    if (!is_mapped(address) && self->lookup.wide.levels == 0 && ++self->wide_asked >= WORTH_INDEX) {
        make_wide_index(&self->lookup); /* without it the tree is searched, which also tells what is wrong */
        self->wide_asked = 0;
    }
    Soundness soundness = row_of_wide(&self->lookup, address, &row);
    return soundness == SOUND ? PyLong_FromUnsignedLong(row) : raise_corrupt(self, soundness);
}

static PyObject *finder_row_of(PyObject *object, PyObject *address) {
    FinderObject *self = (FinderObject *)object;
    if (PyUnicode_Check(address)) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(address, &size);
        Wide read;
        if (text == NULL)
            PyErr_Clear(); /* a lone surrogate: no address either */
        else if (read_address(span_of((const uint8_t *)text, (const uint8_t *)text + size), &read))
            return find_one(self, read);
    }
    if (!is_open(self))
        return NULL;
    PyObject *words = PyObject_CallFunctionObjArgs(self->look_closer, address, NULL);
    unsigned long long high, low;
    bool is_read = words != NULL && PyArg_ParseTuple(words, "KK", &high, &low);
    Py_XDECREF(words);
    return is_read ? find_one(self, (Wide){high, low}) : NULL;
}

/* Look up arrays without the tables, which few addresses are not worth. */
static Soundness find_few(const Lookup *lookup, const Array *addresses, bool is_wide, uint32_t *rows) {
    Soundness soundness = SOUND;
    for (size_t i = 0; soundness == SOUND && i < addresses->rows; i++)
        soundness = is_wide ? row_of_wide(lookup, ((const Wide *)addresses->data)[i], &rows[i])
                            : row_of_narrow(lookup, ((const uint32_t *)addresses->data)[i], &rows[i]);
    return soundness;
}

/* Make the tables that an array of addresses needs. That of IPv4 takes 64 MiB, which a run of lines is not worth:
 * the file's own index serves it until a million and more were asked for. */
static Soundness make_tables(Lookup *lookup, bool is_wide, bool is_run) {
    Soundness soundness = lookup->table4 == NULL && !is_run ? make_table4(lookup) : SOUND;
    return soundness == SOUND && is_wide && lookup->wide.levels == 0 ? make_wide_index(lookup) : soundness;
}

/* Return whether an array is looked up without tables: it is short, none are made, and few like it came before. */
static bool is_for_few(FinderObject *self, size_t count, bool is_wide, bool is_run) {
    const Lookup *lookup = &self->lookup;
    if (count >= (is_run ? WORTH_INDEX : WORTH_TABLE))
        return false;
    if (lookup->table4 != NULL && (!is_wide || lookup->wide.levels > 0))
        return false;
    self->asked = self->asked < WORTH_TABLES ? self->asked + count : WORTH_TABLES;
    return is_run || self->asked < WORTH_TABLES;
}

static PyObject *find_many(FinderObject *self, PyObject *args, bool is_wide, bool is_run) {
    PyObject *given, *out;
    int by = BEST;
    if (!PyArg_ParseTuple(args, "OO|i", &given, &out, &by) || !is_open(self))
        return NULL;
    Frame frame = {.count = 0};
    Array addresses = take_array(&frame, given, is_wide ? "u8" : "u4"), rows = take_array(&frame, out, "wu4");
    expect(&frame, addresses.count == addresses.rows * (is_wide ? 2 : 1), "addresses of another shape");
    expect(&frame, rows.count == addresses.rows, "as many rows as addresses are needed");
    Soundness soundness = SOUND;
    bool is_few = is_for_few(self, addresses.rows, is_wide, is_run);
    if (!frame.is_failed && !is_few)
        soundness = make_tables(&self->lookup, is_wide, is_run);
    if (!frame.is_failed && soundness == SOUND) {
        const Lookup lookup = self->lookup;
        self->users++;
        Py_BEGIN_ALLOW_THREADS
        if (is_few)
            soundness = find_few(&lookup, &addresses, is_wide, rows.data);
        else if (is_wide)
            soundness = rows_of_wide(&lookup, addresses.data, addresses.rows, rows.data, (Instructions)by);
        else
            rows_of_narrow(&lookup, addresses.data, addresses.rows, rows.data);
        Py_END_ALLOW_THREADS
        self->users--;
        let_go(self);
    }
    release_frame(&frame);
    if (frame.is_failed)
        return NULL;
    return soundness == SOUND ? Py_NewRef(Py_None) : raise_corrupt(self, soundness);
}

static PyObject *finder_rows_of_narrow(PyObject *object, PyObject *args) {
    return find_many((FinderObject *)object, args, false, false);
}

static PyObject *finder_rows_of_wide(PyObject *object, PyObject *args) {
    return find_many((FinderObject *)object, args, true, false);
}

static PyObject *finder_rows_of_run(PyObject *object, PyObject *args) {
    return find_many((FinderObject *)object, args, true, true);
}

static PyMethodDef finder_methods[] = {
    {"row_of", finder_row_of, METH_O, "Return the row of the narrowest subnet that holds an address given as text."},
    {"rows_of_narrow", finder_rows_of_narrow, METH_VARARGS, "Write the rows of IPv4 addresses: uint32, out."},
    {"rows_of_wide", finder_rows_of_wide, METH_VARARGS, "Write the rows of both families: (n, 2) uint64, out; tests choose instructions: 1 plain, 2 AVX2, 3 AVX-512."},
    {"rows_of_run", finder_rows_of_run, METH_VARARGS, "As rows_of_wide, for one of several arrays of a long list."},
    {"close", finder_close, METH_NOARGS, "Release the file."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot finder_slots[] = {
    {Py_tp_doc, "Looks up addresses: index, segments, bounds6, parent, look_closer, corrupt."},
    {Py_tp_new, finder_new},
    {Py_tp_dealloc, finder_dealloc},
    {Py_tp_traverse, finder_traverse},
    {Py_tp_clear, finder_clear},
    {Py_tp_methods, finder_methods},
    {0, NULL},
};

PyType_Spec finder_spec = {
    .name = "ipmicra.native.kernels.Finder",
    .basicsize = sizeof(FinderObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = finder_slots,
};
