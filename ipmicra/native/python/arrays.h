/* What all bindings share: arrays in, types and functions out. Only the stable ABI of Python 3.11 is used. */
#ifndef IPMICRA_ARRAYS_H
#define IPMICRA_ARRAYS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A C-contiguous array owned by Python, borrowed until its frame is released. */
typedef struct {
    void *data;
    size_t count; /* items */
    size_t rows;  /* length of the first dimension */
} Array;

enum { MOST_ARRAYS = 48 };

/* The arrays of one call. After the first that is not as expected, `is_failed` is set with a Python error, and
 * later ones come back empty: a call takes all its arrays and looks at the flag once. */
typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int count;
    bool is_failed;
} Frame;

/* Borrow an array. `type` is kind and item size as numpy writes them ("u4", "i8", "f8"), with "w" in front for one
 * that is written to. */
Array take_array(Frame *frame, PyObject *object, const char *type);

/* The same for an attribute of an object. */
Array take_attribute(Frame *frame, PyObject *object, const char *name, const char *type);

/* Note a ValueError unless a condition holds. */
void expect(Frame *frame, bool is_sound, const char *message);

/* Note a MemoryError unless memory sufficed. */
void expect_memory(Frame *frame, bool is_enough);

/* Take a whole number, a floating-point number, or the truth of an object. */
int64_t take_number(Frame *frame, PyObject *object);
double take_float(Frame *frame, PyObject *object);
bool take_flag(Frame *frame, PyObject *object);

void release_frame(Frame *frame);

/* Return a number to Python, or NULL where an error was noted. */
PyObject *return_number(const Frame *frame, int64_t number);

/* A function of the module without the parts that all share. It takes its arguments into the frame, checks them, works,
 * and returns NULL if the frame is failed. */
typedef PyObject *(*Body)(Frame *frame, PyObject *const *args);

/* Call a body with a fresh frame if there are `wanted` arguments (else raise a TypeError), and release its arrays. */
PyObject *call_body(Body body, PyObject *const *args, Py_ssize_t given, Py_ssize_t wanted);

/* Define a function that Python calls with `wanted` positional arguments. The body follows, as in
 *
 *     FUNCTION(sort_keys, 2) {
 *         Array keys = take_array(frame, args[0], "wu8"), order = take_array(frame, args[1], "wu4");
 *         expect(frame, keys.count == order.count, "as many rows as keys are needed");
 *         bool is_done = true;
 *         WITHOUT_GIL(frame, is_done = sort_keys(keys.data, order.data, keys.count));
 *         return return_count(frame, is_done ? 0 : OUT_OF_MEMORY);
 *     }
 *
 * where `args` has exactly `wanted` items. METHOD makes its entry in a table of functions. */
#define FUNCTION(name, wanted) \
    static PyObject *body_of_##name(Frame *frame, PyObject *const *args); \
    static PyObject *py_##name(PyObject *module, PyObject *const *args, Py_ssize_t given) { \
        (void)module; \
        return call_body(body_of_##name, args, given, wanted); \
    } \
    static PyObject *body_of_##name(Frame *frame, PyObject *const *args)

#define METHOD(name, doc) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, doc}

/* Execute statements without the GIL, but none if an argument was refused. They must not touch Python objects. */
#define WITHOUT_GIL(frame, ...) \
    do { \
        if (!(frame)->is_failed) { \
            Py_BEGIN_ALLOW_THREADS \
            __VA_ARGS__; \
            Py_END_ALLOW_THREADS \
        } \
    } while (0)

/* Memory from malloc that becomes a Python object with the buffer protocol. */
PyObject *new_buffer(PyObject *type, void *data, size_t size);
extern PyType_Spec buffer_spec;

/* Types that functions of the module need. */
typedef struct {
    PyObject *buffer_type;
    PyObject *sheet_type;
    PyObject *gatherer_type;
    PyObject *finder_type;
} ModuleState;

/* Addresses of one call for which the tables of large look-ups are made; below, sections are searched as they are. */
enum { WORTH_TABLE = 1 << 15 };

extern PyType_Spec sheet_spec;
extern PyType_Spec gatherer_spec;
extern PyType_Spec finder_spec;
extern PyMethodDef hierarchy_functions[];
extern PyMethodDef text_functions[];
extern PyMethodDef assign_functions[];
extern PyMethodDef delegate_functions[];
extern PyMethodDef reserve_functions[];

#endif
