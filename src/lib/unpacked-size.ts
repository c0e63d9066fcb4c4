/** The unpacked size that every archive may have, in bytes. */
export const UNPACKED_BYTES_FREE = 64 * 1024 * 1024;
/** The unpacked size of larger archives, in multiples of their size. */
export const UNPACKED_RATIO_MAX = 100;
