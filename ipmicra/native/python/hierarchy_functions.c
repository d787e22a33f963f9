/* The functions that build a hierarchy, as Python calls them: arrays are checked here, and the GIL is released. */

#include "../hierarchy/hierarchy.h"
#include "../hierarchy/lookup.h"
#include "arrays.h"

/* Take the columns of a `Rows` object; see ipmicra/parse/columns.py. */
static RowTable take_rows(Frame *frame, PyObject *object) {
    Array text = take_attribute(frame, object, "text", "u8"), lengths = take_attribute(frame, object, "lengths", "u2");
    Array country = take_attribute(frame, object, "country", "u2"), date = take_attribute(frame, object, "date", "u2");
    Array registry = take_attribute(frame, object, "registry", "u1");
    Array holder = take_attribute(frame, object, "holder", "u1");
    size_t count = text.count;
    expect(frame, count == 0 || lengths.count % count == 0, "columns of different lengths");
    expect(frame, country.count == count && date.count == count && registry.count == count && holder.count == count,
           "columns of different lengths");
    return (RowTable){text.data,  lengths.data,  country.data, date.data, registry.data,
                      holder.data, count, count ? lengths.count / count : 0};
}

static Span take_text(Frame *frame, PyObject *object) {
    Array text = take_array(frame, object, "u1");
    return span_of(text.data, (const uint8_t *)text.data + text.count);
}

/* Release the arrays and return a count, or raise what a negative one stands for. */
static PyObject *counted(Frame *frame, int64_t count) {
    release_frame(frame);
    if (frame->is_failed)
        return NULL;
    if (count == OUT_OF_MEMORY)
        return PyErr_NoMemory();
    if (count == NOT_SOUND) {
        PyErr_SetString(PyExc_ValueError, "a row or parent that does not exist");
        return NULL;
    }
    return PyLong_FromLongLong(count);
}

static PyObject *py_sort_keys(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 2);
    if (frame.is_failed)
        return NULL;
    Array keys = take_array(&frame, args[0], "wu8"), order = take_array(&frame, args[1], "wu4");
    expect(&frame, keys.count == order.count, "as many rows as keys are needed");
    bool is_done = true;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        is_done = sort_keys(keys.data, order.data, keys.count);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, is_done ? 0 : OUT_OF_MEMORY);
}

static PyObject *py_pick_winners(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 6);
    if (frame.is_failed)
        return NULL;
    RowTable rows = take_rows(&frame, args[0]);
    Span text = take_text(&frame, args[1]);
    Array order = take_array(&frame, args[2], "u4"), is_same = take_array(&frame, args[3], "u1");
    Array winners = take_array(&frame, args[4], "wi8"), losers = take_array(&frame, args[5], "wi8");
    const uint8_t *flags = is_same.data;
    size_t repeated = 0;
    for (size_t i = 1; !frame.is_failed && i < is_same.count; i++)
        repeated += flags[i] != 0;
    expect(&frame, is_same.count == order.count && winners.count == order.count - repeated &&
                       losers.count == 2 * repeated, "room that does not fit the flags");
    int64_t count = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        count = pick_winners(&rows, text, order.data, flags, order.count, winners.data, losers.data);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, count);
}

static PyObject *py_nest(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 8);
    if (frame.is_failed)
        return NULL;
    Array first = take_array(&frame, args[0], "u8"), end = take_array(&frame, args[1], "u8");
    Array widths = take_array(&frame, args[2], "u8"), source = take_array(&frame, args[3], "wu4");
    Array out_first = take_array(&frame, args[4], "wu8"), out_end = take_array(&frame, args[5], "wu8");
    Array parent = take_array(&frame, args[6], "wu4"), cuts = take_array(&frame, args[7], "wi8");
    expect(&frame, end.count == first.count && (widths.count == 0 || widths.count == first.count) &&
                       first.count < UINT32_MAX, "bounds of different lengths");
    expect(&frame, out_first.count == source.count && out_end.count == source.count && parent.count == source.count &&
                       source.count < UINT32_MAX && cuts.count % 2 == 0, "room of different lengths");
    Ranges ranges = {first.data, end.data, widths.count ? widths.data : NULL, first.count};
    Nested nested = {source.data, out_first.data, out_end.data, parent.data, source.count, cuts.data, cuts.count / 2, 0};
    int64_t rows = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        rows = nest_ranges(ranges, &nested);
        Py_END_ALLOW_THREADS
    }
    PyObject *count = counted(&frame, rows);
    return count == NULL ? NULL : Py_BuildValue("NK", count, (unsigned long long)nested.cut_count);
}

static PyObject *py_deepest(PyObject *module, PyObject *object) {
    (void)module;
    Frame frame = {.count = 0};
    Array parent = take_array(&frame, object, "u4");
    int64_t deepest = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        deepest = deepest_of(parent.data, parent.count);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, deepest);
}

static PyObject *py_flatten(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 4);
    if (frame.is_failed)
        return NULL;
    Array first = take_array(&frame, args[0], "u8"), end = take_array(&frame, args[1], "u8");
    Array parent = take_array(&frame, args[2], "u4"), segments = take_array(&frame, args[3], "wu8");
    expect(&frame, end.count == first.count && parent.count == first.count, "bounds of different lengths");
    int64_t count = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        count = flatten_tree(first.data, end.data, parent.data, first.count, segments.data, segments.count);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, count);
}

static PyObject *py_index_segments(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 3);
    if (frame.is_failed)
        return NULL;
    Array segments = take_array(&frame, args[0], "u8"), index = take_array(&frame, args[2], "wu8");
    int64_t shift = take_number(&frame, args[1]);
    expect(&frame, shift >= 0 && shift <= 32 && segments.count > 0, "no segments, or a shift over 32");
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        index_segments(segments.data, segments.count, (unsigned)shift, index.data, index.count);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, 0);
}

static PyObject *py_number_texts(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 7);
    if (frame.is_failed)
        return NULL;
    Span text = take_text(&frame, args[0]);
    RowTable tables[2];
    tables[0] = take_rows(&frame, args[1]);
    tables[1] = take_rows(&frame, args[2]);
    int64_t column = take_number(&frame, args[3]);
    Array numbers = take_array(&frame, args[4], "wi4"), starts = take_array(&frame, args[5], "wu8");
    Array sizes = take_array(&frame, args[6], "wu2");
    size_t rows = tables[0].count + tables[1].count;
    for (int i = 0; i < 2; i++)
        expect(&frame, tables[i].count == 0 || (column >= 0 && (size_t)column < tables[i].texts), "no such text");
    expect(&frame, numbers.count == rows && starts.count == rows && sizes.count == rows && rows < INT32_MAX,
           "room for one number per row is needed");
    Distinct distinct = {starts.data, sizes.data};
    int64_t count = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        count = number_texts(tables, text, (size_t)column, numbers.data, distinct);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, count);
}

static PyObject *py_write_picked(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 8);
    if (frame.is_failed)
        return NULL;
    Span text = take_text(&frame, args[0]);
    Array starts = take_array(&frame, args[1], "u8"), sizes = take_array(&frame, args[2], "u2");
    Array numbers = take_array(&frame, args[3], "i4"), picked = take_array(&frame, args[4], "i8");
    Array places = take_array(&frame, args[5], "wu4"), out = take_array(&frame, args[6], "wu1");
    Array written = take_array(&frame, args[7], "wu4");
    expect(&frame, sizes.count == starts.count && written.count == starts.count && places.count == picked.count,
           "room of different lengths");
    Distinct distinct = {starts.data, sizes.data};
    size_t count = 0;
    int64_t bytes = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        bytes = write_picked(text, distinct, starts.count, numbers.data, numbers.count, picked.data, picked.count,
                             places.data, out.data, out.count, written.data, &count);
        Py_END_ALLOW_THREADS
    }
    expect(&frame, bytes != OUT_OF_ROOM, "too little room for the texts");
    PyObject *result = counted(&frame, bytes);
    return result == NULL ? NULL : Py_BuildValue("NK", result, (unsigned long long)count);
}

static PyObject *py_renumber(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 5);
    if (frame.is_failed)
        return NULL;
    Array numbers = take_array(&frame, args[0], "i4"), picked = take_array(&frame, args[1], "i8");
    Array out = take_array(&frame, args[2], "wi4"), order = take_array(&frame, args[3], "wi8");
    Array firsts = take_array(&frame, args[4], "wi8");
    expect(&frame, out.count == picked.count && firsts.count == order.count && order.count < INT32_MAX,
           "room of different lengths");
    int64_t used = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        used = renumber(numbers.data, numbers.count, picked.data, picked.count, out.data, order.data, firsts.data,
                        order.count);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, used);
}

static PyObject *py_name_holders(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 7);
    if (frame.is_failed)
        return NULL;
    Span text = take_text(&frame, args[0]);
    RowTable tables[2];
    tables[0] = take_rows(&frame, args[1]);
    tables[1] = take_rows(&frame, args[2]);
    RowTable organisations = take_rows(&frame, args[3]);
    Array numbers = take_array(&frame, args[4], "wi4"), kinds = take_array(&frame, args[5], "wu1");
    Array objects = take_array(&frame, args[6], "wi8");
    size_t rows = tables[0].count + tables[1].count;
    for (int i = 0; i < 2; i++)
        expect(&frame, tables[i].count == 0 || tables[i].texts == STORED_TEXTS, "no registrations");
    expect(&frame, organisations.count == 0 || organisations.texts == ORGANISATION_TEXTS, "no organisations");
    expect(&frame, numbers.count == rows && kinds.count == rows && objects.count == rows && rows < INT32_MAX,
           "room for one number per row is needed");
    int64_t count = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        count = name_holders(tables, &organisations, text, numbers.data, kinds.data, objects.data);
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, count);
}

static PyObject *py_encode_organisations(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 9);
    if (frame.is_failed)
        return NULL;
    Span text = take_text(&frame, args[0]);
    Array kinds = take_array(&frame, args[1], "u1"), objects = take_array(&frame, args[2], "i8");
    Array registry = take_array(&frame, args[3], "u1"), starts = take_array(&frame, args[4], "u8");
    Array lengths = take_array(&frame, args[5], "u2");
    RowTable known = take_rows(&frame, args[6]);
    Array out = take_array(&frame, args[7], "wu1"), at = take_array(&frame, args[8], "wi8");
    size_t count = kinds.count;
    expect(&frame, objects.count == count && registry.count == count && starts.count == count && at.count == count &&
                       lengths.count == STORED_TEXTS * count, "columns of different lengths");
    expect(&frame, known.count == 0 || known.texts == ORGANISATION_TEXTS, "no organisations");
    RowTable named = {starts.data, lengths.data, NULL, NULL, registry.data, NULL, count, STORED_TEXTS};
    int64_t bytes = 0;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        bytes = encode_organisations(&named, &known, text, kinds.data, objects.data, out.data, out.count, at.data);
        Py_END_ALLOW_THREADS
    }
    expect(&frame, bytes != OUT_OF_ROOM, "too little room for the organisations");
    return counted(&frame, bytes);
}

static PyObject *py_hash_bytes(PyObject *module, PyObject *object) {
    (void)module;
    Frame frame = {.count = 0};
    Span text = take_text(&frame, object);
    return counted(&frame, frame.is_failed ? 0 : hash_span(text));
}

/* --- addresses as text; each function returns the first place that it cannot read, or how many there are */

static PyObject *py_read_list(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 3);
    expect(&frame, given == 3 && PyList_Check(args[0]), "no list");
    if (frame.is_failed)
        return NULL;
    int64_t at = take_number(&frame, args[1]);
    Array out = take_array(&frame, args[2], "wu8");
    int64_t count = frame.is_failed ? 0 : PyList_Size(args[0]);
    expect(&frame, at >= 0 && out.count == 2 * (size_t)count, "room for two words per address is needed");
    for (Wide *words = out.data; !frame.is_failed && at < count; at++) {
        PyObject *item = PyList_GetItem(args[0], (Py_ssize_t)at);
        Py_ssize_t size = 0;
        const char *text = item != NULL && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &size) : NULL;
        if (text == NULL ||
            !read_address(span_of((const uint8_t *)text, (const uint8_t *)text + size), &words[at])) {
            PyErr_Clear();
            break;
        }
    }
    return counted(&frame, at);
}

static PyObject *py_read_strings(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 4);
    if (frame.is_failed)
        return NULL;
    Span data = take_text(&frame, args[0]);
    Array offsets = take_array(&frame, args[1], "i8"), out = take_array(&frame, args[3], "wu8");
    int64_t at = take_number(&frame, args[2]);
    expect(&frame, at >= 0 && offsets.count > 0 && out.count == 2 * (offsets.count - 1),
           "one offset more than addresses is needed");
    int64_t count = frame.is_failed ? 0 : (int64_t)offsets.count - 1, size = span_size(data);
    const int64_t *edges = offsets.data;
    Wide *words = out.data;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        for (; at < count; at++) {
            bool is_inside = edges[at] >= 0 && edges[at] <= edges[at + 1] && edges[at + 1] <= size;
            if (!is_inside || !read_address(span_of(data.at + edges[at], data.at + edges[at + 1]), &words[at]))
                break;
        }
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, at);
}

static PyObject *py_read_fixed(PyObject *module, PyObject *const *args, Py_ssize_t given) {
    (void)module;
    Frame frame = {.count = 0};
    expect_count(&frame, given, 4);
    if (frame.is_failed)
        return NULL;
    Span data = take_text(&frame, args[0]);
    int64_t width = take_number(&frame, args[1]), at = take_number(&frame, args[2]);
    Array out = take_array(&frame, args[3], "wu8");
    int64_t count = frame.is_failed ? 0 : (int64_t)out.count / 2;
    expect(&frame, at >= 0 && width > 0 && span_size(data) / width == count && span_size(data) % width == 0,
           "texts of another width");
    Wide *words = out.data;
    if (!frame.is_failed) {
        Py_BEGIN_ALLOW_THREADS
        for (; at < count; at++) {
            Span text = span_of(data.at + at * width, data.at + (at + 1) * width);
            while (!is_empty(text) && text.end[-1] == '\0')
                text.end--;
            if (!read_address(text, &words[at]))
                break;
        }
        Py_END_ALLOW_THREADS
    }
    return counted(&frame, at);
}

#define FAST(name, doc) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, doc}

PyMethodDef hierarchy_functions[] = {
    FAST(sort_keys, "Sort keys and row numbers by them, stably and in place."),
    FAST(pick_winners, "Keep the best row of each run of same ranges; return how many there are."),
    FAST(nest, "Nest ranges; return rows (-1 if there is too little room) and cuts."),
    {"deepest", py_deepest, METH_O, "Return the largest depth of a tree in preorder."},
    FAST(flatten, "Write the segments of an IPv4 tree; return how many there are."),
    FAST(index_segments, "Write the index over the first bits of an address."),
    FAST(number_texts, "Number one text of each row; return how many distinct ones there are."),
    FAST(write_picked, "Write texts in the order of picked rows; return bytes and texts."),
    FAST(renumber, "Number anew in the order of picked rows; return how many numbers there are."),
    FAST(name_holders, "Number the holders that registrations name; return how many there are."),
    FAST(encode_organisations, "Write organisation records; return the bytes."),
    {"hash_bytes", py_hash_bytes, METH_O, "Return the hash by which texts are found."},
    FAST(read_list, "Read addresses of a list from a place on; return where that stopped."),
    FAST(read_strings, "Read addresses of Arrow strings from a place on; return where that stopped."),
    FAST(read_fixed, "Read addresses of fixed width from a place on; return where that stopped."),
    {NULL, NULL, 0, NULL},
};
