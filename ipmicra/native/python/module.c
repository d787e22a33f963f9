/* The module `ipmicra.native.kernels`: its types and functions, and nothing global but the
   reserve of memory, of which a process has one. */

#include "arrays.h"

/* Make one type and put it into the module. */
static PyObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return type;
}

static int module_exec(PyObject *module) {
    ModuleState *state = PyModule_GetState(module);
    bool has_types = (state->buffer_type = add_type(module, &buffer_spec, "Buffer")) != NULL &&
                     (state->sheet_type = add_type(module, &sheet_spec, "Sheet")) != NULL &&
                     (state->gatherer_type = add_type(module, &gatherer_spec, "Gatherer")) != NULL &&
                     (state->finder_type = add_type(module, &finder_spec, "Finder")) != NULL;
    if (!has_types)
        return -1;
    if (PyModule_AddIntConstant(module, "WORTH_TABLE", WORTH_TABLE) < 0)
        return -1;
    bool has_functions = PyModule_AddFunctions(module, hierarchy_functions) == 0 &&
                         PyModule_AddFunctions(module, text_functions) == 0 &&
                         PyModule_AddFunctions(module, assign_functions) == 0 &&
                         PyModule_AddFunctions(module, delegate_functions) == 0 &&
                         PyModule_AddFunctions(module, reserve_functions) == 0;
    return has_functions ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    ModuleState *state = PyModule_GetState(module);
    Py_VISIT(state->buffer_type);
    Py_VISIT(state->sheet_type);
    Py_VISIT(state->gatherer_type);
    Py_VISIT(state->finder_type);
    return 0;
}

static int module_clear(PyObject *module) {
    ModuleState *state = PyModule_GetState(module);
    Py_CLEAR(state->buffer_type);
    Py_CLEAR(state->sheet_type);
    Py_CLEAR(state->gatherer_type);
    Py_CLEAR(state->finder_type);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kernels",
    .m_doc = "Compiled loops: parsing, nesting, look-ups, the overlay, the auction and beliefs.",
    .m_size = sizeof(ModuleState),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit_kernels(void) { return PyModuleDef_Init(&definition); }
