// Replaces the missing library by another one, which the task forbids.
#include "solution.h"

#include <cusparse.h>

namespace {

cusparseHandle_t handle = nullptr;

}  // namespace

cudaError_t spmv_coo(CooMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    if (!handle && cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) return cudaErrorUnknown;
    cusparseSetStream(handle, stream);
    cusparseConstSpMatDescr_t a;
    cusparseConstDnVecDescr_t in;
    cusparseDnVecDescr_t out;
    cusparseCreateConstCoo(&a, matrix.rows, matrix.cols, matrix.entries, matrix.row_of, matrix.column_of,
                           matrix.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateConstDnVec(&in, matrix.cols, x, CUDA_R_32F);
    cusparseCreateDnVec(&out, matrix.rows, y, CUDA_R_32F);
    const float one = 1.0f;
    const float zero = 0.0f;
    const cusparseStatus_t status =
        cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &zero, out, CUDA_R_32F,
                     CUSPARSE_SPMV_COO_ALG2, nullptr);
    cusparseDestroySpMat(a);
    cusparseDestroyDnVec(in);
    cusparseDestroyDnVec(out);
    return status == CUSPARSE_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}
