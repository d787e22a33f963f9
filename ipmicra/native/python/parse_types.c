/* Sheet and Gatherer as Python types. Both release the GIL while they work; a flag refuses the second of two
 * threads that use one at the same time. */

#include <stdlib.h>

#include "../parse/gatherer.h"
#include "arrays.h"

typedef struct {
    PyObject_HEAD
    Sheet sheet;
    bool is_busy;
} SheetObject;

typedef struct {
    PyObject_HEAD
    Gatherer gatherer;
    bool is_busy;
} GathererObject;

/* Claim an object for this thread; return whether nobody else has it. */
static bool claim(bool *is_busy) {
    if (*is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using it");
        return false;
    }
    return *is_busy = true;
}

/* --- Sheet */

static PyObject *sheet_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    SheetObject *self = PyObject_New(SheetObject, type);
    if (self != NULL) {
        memset(&self->sheet, 0, sizeof self->sheet);
        self->is_busy = false;
    }
    return (PyObject *)self;
}

static void sheet_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free_sheet(&((SheetObject *)self)->sheet);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *done_or_out_of_memory(const Sheet *sheet) {
    return sheet->is_out_of_memory ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* Read the first bytes of a buffer; registry -1 stands for statistics, whose lines name theirs. */
static PyObject *read_chunk(SheetObject *self, PyObject *object, int64_t size, int64_t registry) {
    Frame frame = {.count = 0};
    Array buffer = take_array(&frame, object, "u1");
    expect(&frame, size >= 0 && (size_t)size <= buffer.count, "more text than the buffer holds");
    if (frame.is_failed || !claim(&self->is_busy)) {
        release_frame(&frame);
        return NULL;
    }
    const uint8_t *start = buffer.data;
    clear_sheet(&self->sheet);
    Py_BEGIN_ALLOW_THREADS
    if (registry < 0)
        read_statistics(&self->sheet, span_of(start, start + size));
    else
        read_paragraphs(&self->sheet, span_of(start, start + size), (unsigned)registry);
    Py_END_ALLOW_THREADS
    self->is_busy = false;
    release_frame(&frame);
    return done_or_out_of_memory(&self->sheet);
}

static PyObject *sheet_read_paragraphs(PyObject *self, PyObject *args) {
    PyObject *buffer;
    Py_ssize_t size;
    int registry;
    if (!PyArg_ParseTuple(args, "Oni", &buffer, &size, &registry))
        return NULL;
    return read_chunk((SheetObject *)self, buffer, size, registry < 0 ? 0 : registry);
}

static PyObject *sheet_read_statistics(PyObject *self, PyObject *args) {
    PyObject *buffer;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "On", &buffer, &size))
        return NULL;
    return read_chunk((SheetObject *)self, buffer, size, -1);
}

static PyObject *sheet_read_iana(PyObject *self, PyObject *args) {
    Span cells[IANA_CELLS];
    const char *data[IANA_CELLS];
    Py_ssize_t sizes[IANA_CELLS];
    unsigned int line;
    if (!PyArg_ParseTuple(args, "(y#y#y#y#y#)I", &data[0], &sizes[0], &data[1], &sizes[1], &data[2], &sizes[2],
                          &data[3], &sizes[3], &data[4], &sizes[4], &line))
        return NULL;
    for (int i = 0; i < IANA_CELLS; i++)
        cells[i] = span_of((const uint8_t *)data[i], (const uint8_t *)data[i] + sizes[i]);
    if (!claim(&((SheetObject *)self)->is_busy))
        return NULL;
    read_iana_record(&((SheetObject *)self)->sheet, cells, line);
    ((SheetObject *)self)->is_busy = false;
    return done_or_out_of_memory(&((SheetObject *)self)->sheet);
}

static PyObject *sheet_skip(PyObject *self, PyObject *args) {
    unsigned int line, reason;
    if (!PyArg_ParseTuple(args, "II", &line, &reason))
        return NULL;
    refuse(&((SheetObject *)self)->sheet, FATE_SKIPPED, reason & 0xFF, line, NO_SPAN);
    return done_or_out_of_memory(&((SheetObject *)self)->sheet);
}

static PyObject *sheet_clear(PyObject *self, PyObject *unused) {
    (void)unused;
    clear_sheet(&((SheetObject *)self)->sheet);
    return Py_NewRef(Py_None);
}

static PyObject *sheet_add_lines(PyObject *self, PyObject *lines) {
    unsigned long long count = PyLong_AsUnsignedLongLong(lines);
    if (PyErr_Occurred())
        return NULL;
    ((SheetObject *)self)->sheet.lines += count;
    return Py_NewRef(Py_None);
}

static PyMethodDef sheet_methods[] = {
    {"read_paragraphs", sheet_read_paragraphs, METH_VARARGS, "Read whole paragraphs: buffer, size, registry."},
    {"read_statistics", sheet_read_statistics, METH_VARARGS, "Read whole lines of statistics: buffer, size."},
    {"read_iana", sheet_read_iana, METH_VARARGS, "Add a record of IANA's tables: five cells as bytes, line."},
    {"skip", sheet_skip, METH_VARARGS, "Count a record as skipped: line, reason."},
    {"clear", sheet_clear, METH_NOARGS, "Forget everything."},
    {"add_lines", sheet_add_lines, METH_O, "Count lines that were read record by record."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot sheet_slots[] = {
    {Py_tp_doc, "What one chunk of a dump yields."},
    {Py_tp_new, sheet_new},
    {Py_tp_dealloc, sheet_dealloc},
    {Py_tp_methods, sheet_methods},
    {0, NULL},
};

PyType_Spec sheet_spec = {
    .name = "ipmicra.native.kernels.Sheet",
    .basicsize = sizeof(SheetObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = sheet_slots,
};

/* --- Gatherer */

static PyObject *gatherer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    GathererObject *self = PyObject_New(GathererObject, type);
    if (self != NULL) {
        memset(&self->gatherer, 0, sizeof self->gatherer);
        self->is_busy = false;
    }
    return (PyObject *)self;
}

static void gatherer_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free_gatherer(&((GathererObject *)self)->gatherer);
    PyObject_Free(self);
    Py_DECREF(type);
}

static ModuleState *state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

static PyObject *gatherer_add(PyObject *object, PyObject *other) {
    GathererObject *self = (GathererObject *)object;
    SheetObject *sheet = (SheetObject *)other;
    if (!PyObject_TypeCheck(other, (PyTypeObject *)state_of(object)->sheet_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a sheet");
        return NULL;
    }
    if (!claim(&self->is_busy))
        return NULL;
    if (!claim(&sheet->is_busy)) {
        self->is_busy = false;
        return NULL;
    }
    bool is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = gather_sheet(&self->gatherer, &sheet->sheet);
    Py_END_ALLOW_THREADS
    self->is_busy = sheet->is_busy = false;
    return is_done ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *gatherer_join(PyObject *object, PyObject *other) {
    GathererObject *self = (GathererObject *)object, *source = (GathererObject *)other;
    if (Py_TYPE(other) != Py_TYPE(object) || other == object) {
        PyErr_SetString(PyExc_TypeError, "expected another gatherer");
        return NULL;
    }
    if (!claim(&self->is_busy))
        return NULL;
    if (!claim(&source->is_busy)) {
        self->is_busy = false;
        return NULL;
    }
    bool is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = gather_other(&self->gatherer, &source->gatherer);
    Py_END_ALLOW_THREADS
    self->is_busy = source->is_busy = false;
    return is_done ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *gatherer_reserve(PyObject *object, PyObject *number) {
    double times = PyFloat_AsDouble(number);
    if (PyErr_Occurred() || !claim(&((GathererObject *)object)->is_busy))
        return NULL;
    if (times > 1)
        reserve_columns(&((GathererObject *)object)->gatherer, times); /* a guess: no room for it is no error */
    ((GathererObject *)object)->is_busy = false;
    return Py_NewRef(Py_None);
}

static PyObject *gatherer_begin(PyObject *object, PyObject *unused) {
    (void)unused;
    if (!claim(&((GathererObject *)object)->is_busy))
        return NULL;
    begin_dump(&((GathererObject *)object)->gatherer);
    ((GathererObject *)object)->is_busy = false;
    return Py_NewRef(Py_None);
}

static PyObject *gatherer_drop(PyObject *object, PyObject *unused) {
    (void)unused;
    if (!claim(&((GathererObject *)object)->is_busy))
        return NULL;
    drop_dump(&((GathererObject *)object)->gatherer);
    ((GathererObject *)object)->is_busy = false;
    return Py_NewRef(Py_None);
}

/* Return lines, paragraphs by fate, and rows of IPv4, IPv6 and findings. */
static PyObject *gatherer_counts(PyObject *object, PyObject *unused) {
    (void)unused;
    const Gatherer *gatherer = &((GathererObject *)object)->gatherer;
    const uint64_t *fates = gatherer->fates;
    return Py_BuildValue("K(KKKK)(nnn)", (unsigned long long)gatherer->lines, (unsigned long long)fates[0],
                         (unsigned long long)fates[1], (unsigned long long)fates[2], (unsigned long long)fates[3],
                         (Py_ssize_t)(gatherer->first4.size / sizeof(uint32_t)),
                         (Py_ssize_t)(gatherer->wide6.size / sizeof(WidePair)),
                         (Py_ssize_t)gatherer->findings.reason.size);
}

/* Hand all columns over to Python; the gatherer is empty afterwards. */
static PyObject *gatherer_finish(PyObject *object, PyObject *unused) {
    (void)unused;
    GathererObject *self = (GathererObject *)object;
    if (!claim(&self->is_busy))
        return NULL;
    Column *columns = columns_of(&self->gatherer);
    Pool *pool = &self->gatherer.pool;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < COLUMN_COUNT + 2; i++) {
        Column *column = i < COLUMN_COUNT ? &columns[i] : i == COLUMN_COUNT ? &pool->text : &pool->ends;
        PyObject *buffer = new_buffer(state_of(object)->buffer_type, column->data, column->size);
        *column = (Column){NULL, 0, 0};
        if (buffer == NULL || PyList_Append(list, buffer) < 0)
            Py_CLEAR(list);
        Py_XDECREF(buffer);
    }
    free_gatherer(&self->gatherer);
    self->is_busy = false;
    return list;
}

static PyMethodDef gatherer_methods[] = {
    {"add", gatherer_add, METH_O, "Append a sheet; sheets come in the order of the dump."},
    {"join", gatherer_join, METH_O, "Append another dump and empty it."},
    {"begin", gatherer_begin, METH_NOARGS, "Begin another dump: its lines are counted from 1."},
    {"drop", gatherer_drop, METH_NOARGS, "Forget everything since the dump under way began."},
    {"reserve", gatherer_reserve, METH_O,
     "Expect so many times what the dump under way has brought; a wrong guess costs time only."},
    {"counts", gatherer_counts, METH_NOARGS, "Return lines, paragraphs by fate, and rows of IPv4, IPv6 and findings."},
    {"finish", gatherer_finish, METH_NOARGS, "Return all columns and the texts as buffers, and become empty."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot gatherer_slots[] = {
    {Py_tp_doc, "Columns of a dump, appended sheet by sheet."},
    {Py_tp_new, gatherer_new},
    {Py_tp_dealloc, gatherer_dealloc},
    {Py_tp_methods, gatherer_methods},
    {0, NULL},
};

PyType_Spec gatherer_spec = {
    .name = "ipmicra.native.kernels.Gatherer",
    .basicsize = sizeof(GathererObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = gatherer_slots,
};
