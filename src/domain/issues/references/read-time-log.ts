const HOUR_SECONDS = 3600;
/** A working day has eight hours, a week five days, a month four weeks, as in Gitea. */
const UNIT_SECONDS = {
  mo: 4 * 5 * 8 * HOUR_SECONDS,
  w: 5 * 8 * HOUR_SECONDS,
  d: 8 * HOUR_SECONDS,
  h: HOUR_SECONDS,
  m: 60,
} as const;

/** Each unit at most once, in this order. */
const TIME_LOG = new RegExp(
  `^@${Object.keys(UNIT_SECONDS)
    .map((unit) => `(?:(\\d{1,6}(?:[.,]\\d{1,4})?)${unit})?`)
    .join("")}[)\\]}'"*_~:;,.?!]*$`,
  "i",
);

/** The longest time that one commit books: a thousand hours. */
const SECONDS_MAX = 1000 * HOUR_SECONDS;

/**
 * The seconds of a word like `@1h30m` or `@2d`, also with punctuation after it; 0 for any other
 * word.
 */
export function readTimeLog(word: string): number {
  const match = TIME_LOG.exec(word);
  if (!match) return 0;
  const seconds = Object.values(UNIT_SECONDS).reduce(
    (sum, unit, at) => sum + Number((match[at + 1] ?? "0").replace(",", ".")) * unit,
    0,
  );
  return seconds > SECONDS_MAX ? 0 : Math.floor(seconds);
}
