/* Borrowing arrays through the buffer protocol, and handing memory over to Python. */

#include "arrays.h"

#include <stdlib.h>
#include <string.h>

/* Return the kind of number that a format of the struct module stands for: u, i, f, or 0 for others. */
static char kind_of(const char *format) {
    if (format == NULL)
        return 'u'; /* plain bytes */
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    if (strchr("?BHILQNc", *format) != NULL)
        return 'u';
    if (strchr("bhilqn", *format) != NULL)
        return 'i';
    return strchr("fd", *format) != NULL ? 'f' : 0;
}

Array take_array(Frame *frame, PyObject *object, const char *type) {
    const Array none = {NULL, 0, 0};
    bool is_written = *type == 'w';
    const char *wanted = is_written ? type + 1 : type;
    if (frame->is_failed)
        return none;
    if (frame->count == MOST_ARRAYS) {
        PyErr_SetString(PyExc_SystemError, "too many arrays");
        frame->is_failed = true;
        return none;
    }
    Py_buffer *view = &frame->views[frame->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0) {
        frame->is_failed = true;
        return none;
    }
    frame->count++;
    if (view->itemsize != wanted[1] - '0' || kind_of(view->format) != wanted[0]) {
        PyErr_Format(PyExc_TypeError, "expected an array of %s, not of '%s' with %zd bytes each", wanted,
                     view->format ? view->format : "B", view->itemsize);
        frame->is_failed = true;
        return none;
    }
    if (view->len > 0 && (uintptr_t)view->buf % (size_t)view->itemsize != 0) {
        PyErr_SetString(PyExc_BufferError, "an array that is not aligned");
        frame->is_failed = true;
        return none;
    }
    size_t count = (size_t)(view->len / view->itemsize);
    return (Array){view->buf, count, view->ndim > 0 && view->shape != NULL ? (size_t)view->shape[0] : count};
}

Array take_attribute(Frame *frame, PyObject *object, const char *name, const char *type) {
    PyObject *value = frame->is_failed ? NULL : PyObject_GetAttrString(object, name);
    if (value == NULL) {
        frame->is_failed = true;
        return (Array){NULL, 0, 0};
    }
    Array array = take_array(frame, value, type);
    Py_DECREF(value); /* the view holds it */
    return array;
}

void expect(Frame *frame, bool is_sound, const char *message) {
    if (!frame->is_failed && !is_sound) {
        PyErr_SetString(PyExc_ValueError, message);
        frame->is_failed = true;
    }
}

void expect_memory(Frame *frame, bool is_enough) {
    if (!frame->is_failed && !is_enough) {
        PyErr_NoMemory();
        frame->is_failed = true;
    }
}

int64_t take_number(Frame *frame, PyObject *object) {
    if (frame->is_failed)
        return 0;
    long long number = PyLong_AsLongLong(object);
    frame->is_failed = number == -1 && PyErr_Occurred() != NULL;
    return number;
}

double take_float(Frame *frame, PyObject *object) {
    if (frame->is_failed)
        return 0.0;
    double number = PyFloat_AsDouble(object);
    frame->is_failed = number == -1.0 && PyErr_Occurred() != NULL;
    return number;
}

bool take_flag(Frame *frame, PyObject *object) {
    if (frame->is_failed)
        return false;
    int truth = PyObject_IsTrue(object);
    frame->is_failed = truth < 0;
    return truth == 1;
}

void release_frame(Frame *frame) {
    while (frame->count > 0)
        PyBuffer_Release(&frame->views[--frame->count]);
}

PyObject *return_number(const Frame *frame, int64_t number) {
    return frame->is_failed ? NULL : PyLong_FromLongLong(number);
}

PyObject *call_body(Body body, PyObject *const *args, Py_ssize_t given, Py_ssize_t wanted) {
    if (given != wanted)
        return PyErr_Format(PyExc_TypeError, "expected %zd arguments, not %zd", wanted, given);
    Frame frame = {.count = 0};
    PyObject *result = body(&frame, args);
    release_frame(&frame);
    return result;
}

/* --- memory that Python owns */

typedef struct {
    PyObject_HEAD
    void *data;
    Py_ssize_t size;
} BufferObject;

PyObject *new_buffer(PyObject *type, void *data, size_t size) {
    BufferObject *self = PyObject_New(BufferObject, (PyTypeObject *)type);
    if (self == NULL) {
        free(data);
        return NULL;
    }
    self->data = data;
    self->size = (Py_ssize_t)size;
    return (PyObject *)self;
}

static void buffer_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(((BufferObject *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
    static uint64_t nothing[1];
    BufferObject *buffer = (BufferObject *)self;
    return PyBuffer_FillInfo(view, self, buffer->data ? buffer->data : nothing, buffer->size, 0, flags);
}

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "Memory that compiled code filled."},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_bf_getbuffer, buffer_get},
    {0, NULL},
};

PyType_Spec buffer_spec = {
    .name = "ipmicra.native.kernels.Buffer",
    .basicsize = sizeof(BufferObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = buffer_slots,
};
