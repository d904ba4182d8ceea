"""What the names of nodes that passes put in call an output: by name where MXNet declares one, else by number."""

NAMED = frozenset(
    """
    Activation BatchNorm BatchNorm_v1 BilinearSampler CTCLoss Concat Convolution Convolution_v1 Correlation Crop
    CuDNNBatchNorm Custom Deconvolution Dropout FullyConnected GridGenerator GroupNorm IdentityAttachKLSparseReg
    InstanceNorm L2Normalization LRN LayerNorm LeakyReLU MakeLoss Pad Pooling Pooling_v1 RNN ROIPooling SVMOutput
    SequenceLast SequenceMask SequenceReverse SliceChannel SoftmaxActivation SoftmaxOutput SpatialTransformer SwapAxis
    UpSampling _CrossDeviceCopy _contrib_BatchNormWithReLU _contrib_DeformableConvolution
    _contrib_DeformablePSROIPooling _contrib_MultiBoxDetection _contrib_MultiBoxPrior _contrib_MultiBoxTarget
    _contrib_MultiProposal _contrib_PSROIPooling _contrib_Proposal _contrib_ROIAlign _contrib_RROIAlign
    _contrib_SyncBatchNorm _contrib_calibrate_entropy _contrib_count_sketch _contrib_fft _contrib_hawkesll
    _contrib_ifft _contrib_index_array _contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt
    _contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt _contrib_quantize_asym
    _contrib_quantized_act _contrib_quantized_batch_norm _contrib_quantized_concat _contrib_quantized_conv
    _contrib_quantized_elemwise_add _contrib_quantized_elemwise_mul _contrib_quantized_embedding
    _contrib_quantized_flatten _contrib_quantized_fully_connected _contrib_quantized_pooling _contrib_quantized_rnn
    _npi_concatenate _npi_dstack _npi_hstack _npi_matmul _npi_std _npi_var col2im elemwise_add im2col make_loss softmax
    softmin
    """.split()
)


def output_name(node, index):
    """What follows the operator's name in the name of a node that was put behind one of its outputs."""
    return node.output_names()[index] if node.op.name in NAMED else str(index)
