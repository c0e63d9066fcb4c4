/** Milliseconds of a monotonic clock that all processes of the machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
