"""Two instructions of the machine that numba does not offer: count the bits of a word, ask for memory ahead."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic


def _popcount64(typing_context: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), code


popcount64: Any = intrinsic(_popcount64)


def _prefetch(typing_context: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), code


prefetch: Any = intrinsic(_prefetch)  # prefetch(array of one dimension, index): a hint, without effect on any result
