/**
 * The date of a file by its publication: the second after it, and none before that second has come.
 * Within the second of its publication a file may be deleted and published again with other bytes,
 * so that a date that clients already have would be theirs, too.
 */
export function fileDateOf(createdAt: number, now: number): number | undefined {
  const date = (Math.floor(createdAt / 1000) + 1) * 1000;
  return date <= now ? date : undefined;
}
