/* The functions that build a hierarchy, as Python calls them: arrays are checked here, and the GIL is released. */

#include "../hierarchy/hierarchy.h"
#include "../hierarchy/render.h"
#include "../parse/pool.h"
#include "arrays.h"

/* Take the columns of a `Rows` object that has so many kinds of texts; see ipmicra/parse/columns.py. */
static RowTable take_rows(Frame *frame, PyObject *object, size_t kinds) {
    Array country = take_attribute(frame, object, "country", "u2"), date = take_attribute(frame, object, "date", "u2");
    Array registry = take_attribute(frame, object, "registry", "u1");
    Array holder = take_attribute(frame, object, "holder", "u1");
    Array detail = take_attribute(frame, object, "detail", "u1");
    size_t count = country.count;
    RowTable table = {{NULL}, country.data, date.data, registry.data, holder.data, detail.data, count, kinds};
    PyObject *texts = frame->is_failed ? NULL : PyObject_GetAttrString(object, "texts");
    frame->is_failed |= texts == NULL;
    expect(frame, texts != NULL && PyTuple_Check(texts) && PyTuple_Size(texts) == (Py_ssize_t)kinds,
           "another number of texts");
    for (size_t i = 0; !frame->is_failed && i < kinds; i++) {
        Array numbers = take_array(frame, PyTuple_GetItem(texts, (Py_ssize_t)i), "u4");
        expect(frame, numbers.count == count || (numbers.count == 0 && i >= FIRST_RARE), "columns of different lengths");
        table.texts[i] = numbers.count ? numbers.data : NULL;
    }
    Py_XDECREF(texts);
    expect(frame, date.count == count && registry.count == count && holder.count == count && detail.count == count,
           "columns of different lengths");
    return table;
}

/* Take the columns of both families. */
static void take_families(Frame *frame, RowTable tables[2], PyObject *narrow, PyObject *wide) {
    tables[0] = take_rows(frame, narrow, STORED_TEXTS);
    tables[1] = take_rows(frame, wide, STORED_TEXTS);
    expect(frame, tables[0].count + tables[1].count < INT32_MAX, "too many registrations");
}

static Span take_text(Frame *frame, PyObject *object) {
    Array text = take_array(frame, object, "u1");
    return span_of(text.data, (const uint8_t *)text.data + text.count);
}

/* Take a `Texts` object. */
static Texts take_texts(Frame *frame, PyObject *object) {
    Array data = take_attribute(frame, object, "data", "u1"), ends = take_attribute(frame, object, "ends", "u8");
    return (Texts){span_of(data.data, (const uint8_t *)data.data + data.count), ends.data,
                   ends.count ? ends.count - 1 : 0};
}

/* Return a count, or raise what a negative one stands for. */
static PyObject *return_count(Frame *frame, int64_t count) {
    expect_memory(frame, count != OUT_OF_MEMORY);
    expect(frame, count != NOT_SOUND, "a row or parent that does not exist");
    return return_number(frame, count);
}

FUNCTION(range_keys, 4) {
    Array first = take_array(frame, args[0], "u4"), last = take_array(frame, args[1], "u4");
    Array keys = take_array(frame, args[2], "wu8"), order = take_array(frame, args[3], "wu4");
    expect(frame, last.count == first.count && keys.count == first.count && order.count == first.count,
           "columns of different lengths");
    WITHOUT_GIL(frame, range_keys(first.data, last.data, first.count, keys.data, order.data));
    return return_number(frame, 0);
}

FUNCTION(sort_keys, 2) {
    Array keys = take_array(frame, args[0], "wu8"), order = take_array(frame, args[1], "wu4");
    expect(frame, keys.count == order.count, "as many rows as keys are needed");
    bool is_done = true;
    WITHOUT_GIL(frame, is_done = sort_keys(keys.data, order.data, keys.count));
    return return_count(frame, is_done ? 0 : OUT_OF_MEMORY);
}

FUNCTION(pick_winners, 6) {
    RowTable rows = take_rows(frame, args[0], STORED_TEXTS);
    Texts texts = take_texts(frame, args[1]);
    Array order = take_array(frame, args[2], "u4"), is_same = take_array(frame, args[3], "u1");
    Array winners = take_array(frame, args[4], "wi4"), losers = take_array(frame, args[5], "wi8");
    const uint8_t *flags = is_same.data;
    size_t repeated = 0;
    for (size_t i = 1; !frame->is_failed && i < is_same.count; i++)
        repeated += flags[i] != 0;
    expect(frame, is_same.count == order.count && winners.count == order.count - repeated &&
                      losers.count == 2 * repeated && rows.count < INT32_MAX, "room that does not fit the flags");
    int64_t count = 0;
    WITHOUT_GIL(frame, count = pick_winners(&rows, &texts, order.data, flags, order.count, winners.data, losers.data));
    return return_count(frame, count);
}

FUNCTION(rank_ranges, 3) {
    Array ranges = take_array(frame, args[0], "u8"), keys = take_array(frame, args[1], "wu8");
    Array values = take_array(frame, args[2], "wu8");
    expect(frame, ranges.count == 4 * keys.count && values.count == 4 * keys.count + 2 && keys.count < INT32_MAX,
           "room of different lengths");
    int64_t ranks = 0;
    WITHOUT_GIL(frame, ranks = rank_ranges(ranges.data, keys.count, keys.data, values.data));
    return return_count(frame, ranks);
}

FUNCTION(nest, 6) {
    Array keys = take_array(frame, args[0], "u8"), widths = take_array(frame, args[1], "u8");
    Array source = take_array(frame, args[2], "wu4"), bounds = take_array(frame, args[3], "wu4");
    Array parent = take_array(frame, args[4], "wu4"), cuts = take_array(frame, args[5], "wi8");
    expect(frame, (widths.count == 0 || widths.count == keys.count) && keys.count < UINT32_MAX,
           "bounds of different lengths");
    expect(frame, bounds.count == 2 * source.count && parent.count == source.count && source.count < UINT32_MAX &&
                      cuts.count % 2 == 0, "room of different lengths");
    Ranges ranges = {keys.data, widths.count ? widths.data : NULL, keys.count};
    Nested nested = {source.data, bounds.data, parent.data, source.count, cuts.data, cuts.count / 2, 0, 0};
    int64_t rows = 0;
    WITHOUT_GIL(frame, rows = nest_ranges(ranges, &nested));
    PyObject *count = return_count(frame, rows);
    return count == NULL ? NULL : Py_BuildValue("NKK", count, (unsigned long long)nested.cut_count,
                                                (unsigned long long)nested.deepest);
}

FUNCTION(flatten, 3) {
    Array bounds = take_array(frame, args[0], "u4"), parent = take_array(frame, args[1], "u4");
    Array segments = take_array(frame, args[2], "wu8");
    expect(frame, bounds.count == 2 * parent.count, "bounds of different lengths");
    int64_t count = 0;
    WITHOUT_GIL(frame, count = flatten_tree(bounds.data, parent.data, parent.count, segments.data, segments.count));
    return return_count(frame, count);
}

FUNCTION(index_segments, 3) {
    Array segments = take_array(frame, args[0], "u8"), index = take_array(frame, args[2], "wu8");
    int64_t shift = take_number(frame, args[1]);
    expect(frame, shift >= 0 && shift <= 32 && segments.count > 0, "no segments, or a shift over 32");
    WITHOUT_GIL(frame, index_segments(segments.data, segments.count, (unsigned)shift, index.data, index.count));
    return return_number(frame, 0);
}

FUNCTION(write_picked, 8) {
    Texts texts = take_texts(frame, args[0]);
    RowTable tables[2];
    take_families(frame, tables, args[1], args[2]);
    int64_t kind = take_number(frame, args[3]);
    Array picked = take_array(frame, args[4], "i4"), places = take_array(frame, args[5], "wu4");
    Array out = take_array(frame, args[6], "wu1"), written = take_array(frame, args[7], "wu4");
    expect(frame, kind >= 0 && kind < STORED_TEXTS, "no such text");
    expect(frame, written.count == texts.count && places.count == picked.count, "room of different lengths");
    size_t count = 0;
    int64_t bytes = 0;
    WITHOUT_GIL(frame, bytes = write_picked(&texts, tables, (size_t)kind, picked.data, picked.count, places.data,
                                            out.data, out.count, written.data, &count));
    expect(frame, bytes != OUT_OF_ROOM, "too little room for the texts");
    PyObject *result = return_count(frame, bytes);
    return result == NULL ? NULL : Py_BuildValue("NK", result, (unsigned long long)count);
}

FUNCTION(renumber, 5) {
    Array numbers = take_array(frame, args[0], "i4"), picked = take_array(frame, args[1], "i4");
    Array out = take_array(frame, args[2], "wu4"), order = take_array(frame, args[3], "wi8");
    Array firsts = take_array(frame, args[4], "wi8");
    expect(frame, out.count == picked.count && firsts.count == order.count && order.count < INT32_MAX,
           "room of different lengths");
    int64_t used = 0;
    WITHOUT_GIL(frame, used = renumber(numbers.data, numbers.count, picked.data, picked.count, out.data, order.data,
                                       firsts.data, order.count));
    return return_count(frame, used);
}

FUNCTION(name_holders, 7) {
    Texts texts = take_texts(frame, args[0]);
    RowTable tables[2];
    take_families(frame, tables, args[1], args[2]);
    RowTable organisations = take_rows(frame, args[3], ORGANISATION_TEXTS);
    Array numbers = take_array(frame, args[4], "wi4"), kinds = take_array(frame, args[5], "wu1");
    Array objects = take_array(frame, args[6], "wi8");
    size_t rows = tables[0].count + tables[1].count;
    expect(frame, numbers.count == rows && kinds.count == rows && objects.count == rows,
           "room for one number per row is needed");
    int64_t count = 0;
    WITHOUT_GIL(frame, count = name_holders(tables, &organisations, &texts, numbers.data, kinds.data, objects.data));
    return return_count(frame, count);
}

FUNCTION(encode_organisations, 9) {
    Texts texts = take_texts(frame, args[0]);
    Array kinds = take_array(frame, args[1], "u1"), objects = take_array(frame, args[2], "i8");
    Array firsts = take_array(frame, args[3], "i8");
    RowTable tables[2];
    take_families(frame, tables, args[4], args[5]);
    RowTable known = take_rows(frame, args[6], ORGANISATION_TEXTS);
    Array out = take_array(frame, args[7], "wu1"), at = take_array(frame, args[8], "wi8");
    size_t count = kinds.count;
    expect(frame, objects.count == count && firsts.count == count && at.count == count,
           "columns of different lengths");
    NamedHolders named = {kinds.data, objects.data, firsts.data, count};
    int64_t bytes = 0;
    WITHOUT_GIL(frame, bytes = encode_organisations(named, tables, &known, &texts, out.data, out.count, at.data));
    expect(frame, bytes != OUT_OF_ROOM, "too little room for the organisations");
    return return_count(frame, bytes);
}

FUNCTION(hash_bytes, 1) {
    Span text = take_text(frame, args[0]);
    return return_number(frame, frame->is_failed ? 0 : hash_span(text));
}

/* --- look-ups as lines; see ipmicra/hierarchy/rendering.py */

FUNCTION(read_lines, 4) {
    Span text = take_text(frame, args[0]);
    int64_t start = take_number(frame, args[1]);
    Array edges = take_array(frame, args[2], "wi8"), words = take_array(frame, args[3], "wu8");
    expect(frame, start >= 0 && start <= span_size(text) && edges.count == words.count && words.count % 2 == 0,
           "a place outside of the text, or room of different lengths");
    size_t at = (size_t)start, count = 0;
    WITHOUT_GIL(frame, count = read_lines(text, &at, edges.data, words.data, words.count / 2));
    return frame->is_failed ? NULL : Py_BuildValue("KK", (unsigned long long)count, (unsigned long long)at);
}

/* Take a column of codes, whose width the file decides. */
static Codes take_codes(Frame *frame, PyObject *object, size_t rows) {
    PyObject *width = frame->is_failed ? NULL : PyObject_GetAttrString(object, "itemsize");
    frame->is_failed |= width == NULL;
    int64_t bytes = take_number(frame, width);
    Py_XDECREF(width);
    Array codes = take_array(frame, object, bytes == 1 ? "u1" : bytes == 2 ? "u2" : "u4");
    expect(frame, codes.count == rows, "columns of different lengths");
    return (Codes){codes.data, (size_t)bytes};
}

enum { RENDERED_SECTIONS = 18 };

/* Take the sections that describe subnets, in the order of `SECTIONS` in ipmicra/hierarchy/rendering.py. */
static Registrations take_registrations(Frame *frame, PyObject *const *views) {
    Array bounds4 = take_array(frame, views[0], "u4"), bounds6 = take_array(frame, views[1], "u8");
    Array parent = take_array(frame, views[2], "u4"), organisation = take_array(frame, views[3], "u4");
    Array netname = take_array(frame, views[4], "u4"), registry = take_array(frame, views[7], "u1");
    Array date = take_array(frame, views[8], "u2"), countries = take_array(frame, views[9], "u2");
    Array statuses = take_array(frame, views[10], "u4"), organisation_at = take_array(frame, views[12], "u4");
    Array geo_rows = take_array(frame, views[14], "u4"), geoloc = take_array(frame, views[15], "u4");
    Array geofeed = take_array(frame, views[16], "u4"), postal = take_array(frame, views[17], "u4");
    size_t rows4 = bounds4.count / 2, rows6 = bounds6.count / 4, rows = rows4 + rows6;
    expect(frame, bounds4.count % 2 == 0 && bounds6.count % 4 == 0, "bounds of half a subnet");
    expect(frame, parent.count == rows && organisation.count == rows && netname.count == rows &&
                      registry.count == rows && date.count == rows, "columns of different lengths");
    expect(frame, geoloc.count == geo_rows.count && geofeed.count == geo_rows.count && postal.count == geo_rows.count,
           "columns of different lengths");
    Codes country = take_codes(frame, views[5], rows), status = take_codes(frame, views[6], rows);
    Span names = take_text(frame, views[11]), organisations = take_text(frame, views[13]);
    return (Registrations){bounds4.data, bounds6.data, rows4, rows6, parent.data, organisation.data, netname.data,
                           country, status, registry.data, date.data, countries.data, countries.count,
                           statuses.data, statuses.count, names, organisation_at.data, organisation_at.count,
                           organisations, geo_rows.data, geoloc.data, geofeed.data, postal.data, geo_rows.count, NULL};
}

static Registrations take_sections(Frame *frame, PyObject *sections) {
    PyObject *views[RENDERED_SECTIONS];
    expect(frame, PyTuple_Check(sections) && PyTuple_Size(sections) == RENDERED_SECTIONS, "no tuple of sections");
    for (int i = 0; !frame->is_failed && i < RENDERED_SECTIONS; i++)
        views[i] = PyTuple_GetItem(sections, i);
    return frame->is_failed ? (Registrations){.rows4 = 0} : take_registrations(frame, views);
}

FUNCTION(note_rows, 2) {
    Registrations from = take_sections(frame, args[0]);
    Array notes = take_array(frame, args[1], "wu1");
    expect(frame, notes.count == from.rows4 + from.rows6, "a note for each row is needed");
    WITHOUT_GIL(frame, note_rows(&from, notes.data));
    return frame->is_failed ? NULL : Py_NewRef(Py_None);
}

FUNCTION(render_lines, 9) {
    Registrations from = take_sections(frame, args[0]);
    Array notes = take_array(frame, args[8], "u1");
    expect(frame, notes.count == 0 || notes.count == from.rows4 + from.rows6, "a note for each row is needed");
    from.notes = notes.count ? notes.data : NULL;
    Span text = take_text(frame, args[1]);
    Array edges = take_array(frame, args[2], "i8"), words = take_array(frame, args[3], "u8");
    Array rows = take_array(frame, args[4], "u4"), out = take_array(frame, args[7], "wu1");
    int64_t at = take_number(frame, args[5]);
    bool is_json = take_flag(frame, args[6]);
    expect(frame, at >= 0 && edges.count >= 2 * rows.count && words.count >= 2 * rows.count,
           "a row for each address is needed");
    Targets targets = {text, edges.data, words.data, rows.data, rows.count};
    size_t stop = 0, written = 0;
    WITHOUT_GIL(frame, stop = render_lines(&from, &targets, (size_t)at, is_json ? AS_JSON : AS_CSV, out.data, out.count,
                                           &written));
    return frame->is_failed ? NULL : Py_BuildValue("KK", (unsigned long long)stop, (unsigned long long)written);
}

PyMethodDef hierarchy_functions[] = {
    METHOD(range_keys, "Write the sort keys of IPv4 ranges, and their row numbers."),
    METHOD(sort_keys, "Sort keys and row numbers by them, stably and in place."),
    METHOD(pick_winners, "Keep the best row of each run of same ranges; return how many there are."),
    METHOD(rank_ranges, "Write ranges of IPv6 as keys of ranks, and the value of each rank; return how many there are."),
    METHOD(nest, "Nest ranges; return rows (-1 if there is too little room), cuts and the largest depth."),
    METHOD(flatten, "Write the segments of an IPv4 tree; return how many there are."),
    METHOD(index_segments, "Write the index over the first bits of an address."),
    METHOD(write_picked, "Write texts in the order of picked rows; return bytes and texts."),
    METHOD(renumber, "Renumber in the order of picked rows; return how many numbers there are."),
    METHOD(name_holders, "Number the holders that registrations name; return how many there are."),
    METHOD(encode_organisations, "Write organisation records; return the bytes."),
    METHOD(hash_bytes, "Return the hash by which texts are found."),
    METHOD(read_lines, "Read lines that are addresses from a place on; return how many, and where that stopped."),
    METHOD(note_rows, "Note the depth of each row, and whether something says where it is."),
    METHOD(render_lines, "Write look-ups from a place on as CSV or JSON; return where that stopped, and the bytes."),
    {NULL, NULL, 0, NULL},
};
