/* Texts that go in and out as arrays, as Python calls it: addresses, and columns about subnets. */

#include "../hierarchy/render.h"
#include "arrays.h"

static Span take_text(Frame *frame, PyObject *object) {
    Array text = take_array(frame, object, "u1");
    return span_of(text.data, (const uint8_t *)text.data + text.count);
}

/* --- addresses as text; each function returns the first place that it cannot read, or how many there are */

FUNCTION(read_list, 3) {
    expect(frame, PyList_Check(args[0]), "no list");
    int64_t at = take_number(frame, args[1]);
    Array out = take_array(frame, args[2], "wu8");
    int64_t count = frame->is_failed ? 0 : PyList_Size(args[0]);
    expect(frame, at >= 0 && out.count == 2 * (size_t)count, "room for two words per address is needed");
    for (Wide *words = out.data; !frame->is_failed && at < count; at++) {
        PyObject *item = PyList_GetItem(args[0], (Py_ssize_t)at);
        Py_ssize_t size = 0;
        const char *text = item != NULL && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &size) : NULL;
        if (text == NULL ||
            !read_address(span_of((const uint8_t *)text, (const uint8_t *)text + size), &words[at])) {
            PyErr_Clear();
            break;
        }
    }
    return return_number(frame, at);
}

FUNCTION(read_strings, 4) {
    Span data = take_text(frame, args[0]);
    Array offsets = take_array(frame, args[1], "i8"), out = take_array(frame, args[3], "wu8");
    int64_t at = take_number(frame, args[2]);
    expect(frame, at >= 0 && offsets.count > 0 && out.count == 2 * (offsets.count - 1),
           "one offset more than addresses is needed");
    int64_t count = frame->is_failed ? 0 : (int64_t)offsets.count - 1, size = span_size(data);
    const int64_t *edges = offsets.data;
    Wide *words = out.data;
    if (!frame->is_failed) {
        Py_BEGIN_ALLOW_THREADS
        for (; at < count; at++) {
            bool is_inside = edges[at] >= 0 && edges[at] <= edges[at + 1] && edges[at + 1] <= size;
            if (!is_inside || !read_address(span_of(data.at + edges[at], data.at + edges[at + 1]), &words[at]))
                break;
        }
        Py_END_ALLOW_THREADS
    }
    return return_number(frame, at);
}

FUNCTION(read_fixed, 4) {
    Span data = take_text(frame, args[0]);
    int64_t width = take_number(frame, args[1]), at = take_number(frame, args[2]);
    Array out = take_array(frame, args[3], "wu8");
    int64_t count = frame->is_failed ? 0 : (int64_t)out.count / 2;
    expect(frame, at >= 0 && width > 0 && span_size(data) / width == count && span_size(data) % width == 0,
           "texts of another width");
    Wide *words = out.data;
    if (!frame->is_failed) {
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
    return return_number(frame, at);
}

/* --- texts of rows as columns; see ipmicra/hierarchy/row_texts.py */

/* Take room for texts from a place on. */
static TextColumn take_column(Frame *frame, PyObject *edges, PyObject *data, size_t count, int64_t at) {
    Array places = take_array(frame, edges, "wi4"), bytes = take_array(frame, data, "wu1");
    expect(frame, places.count == count + 1 && bytes.count <= INT32_MAX, "one edge more than texts is needed");
    expect(frame, at >= 0 && (size_t)at <= count, "a place outside of the column");
    const int32_t *known = places.data;
    expect(frame, frame->is_failed || (known[at] >= 0 && (size_t)known[at] <= bytes.count), "an edge outside of the data");
    return (TextColumn){bytes.data, bytes.count, places.data};
}

FUNCTION(write_labels, 6) {
    Array bounds4 = take_array(frame, args[0], "u4"), bounds6 = take_array(frame, args[1], "u8");
    Array rows = take_array(frame, args[2], "u4");
    expect(frame, bounds4.count % 2 == 0 && bounds6.count % 4 == 0, "bounds of half a subnet");
    Registrations from = {.bounds4 = bounds4.data, .bounds6 = bounds6.data};
    from.rows4 = bounds4.count / 2, from.rows6 = bounds6.count / 4;
    size_t at = (size_t)take_number(frame, args[3]);
    TextColumn out = take_column(frame, args[4], args[5], rows.count, (int64_t)at);
    WITHOUT_GIL(frame, at = write_labels(&from, rows.data, rows.count, at, out));
    return return_number(frame, (int64_t)at);
}

FUNCTION(write_names, 5) {
    Registrations from = {.names = take_text(frame, args[0])};
    Array places = take_array(frame, args[1], "u4");
    size_t at = (size_t)take_number(frame, args[2]);
    TextColumn out = take_column(frame, args[3], args[4], places.count, (int64_t)at);
    WITHOUT_GIL(frame, at = write_names(&from, places.data, places.count, at, out));
    return return_number(frame, (int64_t)at);
}

PyMethodDef text_functions[] = {
    METHOD(read_list, "Read addresses of a list from a place on; return where that stopped."),
    METHOD(read_strings, "Read addresses of Arrow strings from a place on; return where that stopped."),
    METHOD(read_fixed, "Read addresses of fixed width from a place on; return where that stopped."),
    METHOD(write_labels, "Write what subnets are called from a place on; return where that stopped."),
    METHOD(write_names, "Write names from a place on; return where that stopped."),
    {NULL, NULL, 0, NULL},
};
