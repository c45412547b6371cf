# How the IR tests run; lit.site.cfg.py of the build sets paths and loads this.
import os

import lit.formats

config.name = "Orrery"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join(
    [config.orrery_tools, config.llvm_tools, config.environment["PATH"]])
# As in TestMain.cpp: freed memory is overwritten.
config.environment["MALLOC_PERTURB_"] = "165"
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

# %models: model files of this project; %shared: third-party test data, with
# the feature `shared-data` when it is there.
config.substitutions.append(("%models", config.orrery_models))
config.substitutions.append(("%shared", config.orrery_shared))
if os.path.isdir(config.orrery_shared):
    config.available_features.add("shared-data")
