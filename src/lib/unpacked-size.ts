/** What an archive may unpack to, whatever its size, in bytes. */
export const UNPACKED_BYTES_FREE = 64 * 1024 * 1024;
/** What a larger one may unpack to, in multiples of its size. */
export const UNPACKED_RATIO_MAX = 100;
