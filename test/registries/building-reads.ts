/** The reads of registries whose SQL is built anew for each request. The list may only become shorter. */
export const BUILDING_READS: Readonly<Record<string, readonly string[]>> = {};
