import { Refusal } from "../refusal.ts";

const units = [
  { name: "minute", from: 0, to: 59, words: [] },
  { name: "hour", from: 0, to: 23, words: [] },
  { name: "day of the month", from: 1, to: 31, words: [] },
  {
    name: "month",
    from: 1,
    to: 12,
    words: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" "),
  },
  // Cloudflare counts the days of the week from Sunday = 1.
  { name: "day of the week", from: 1, to: 7, words: "SUN MON TUE WED THU FRI SAT".split(" ") },
];

/** Whether a cron trigger is due in the minute of a date (UTC). */
export type Cron = (date: Date) => boolean;

/**
 * Reads the expression of a cron trigger: numbers, names, `*`, lists, ranges and steps.
 *
 * @see https://developers.cloudflare.com/workers/configuration/cron-triggers/
 * @throws Refusal for what a trigger may say beyond that (`L`, `W`, `#`): it would never fire here.
 */
export function parseCron(expression: string): Cron {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== units.length) throw unreadable(expression, "five fields are expected");

  const allowed = units.map((unit, index) => parseField(expression, fields[index] ?? "", unit));
  const isDayRestricted = fields[2] !== "*" && fields[4] !== "*";

  return (date) => {
    const now = [
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth() + 1,
      date.getUTCDay() + 1,
    ];
    const [minute, hour, day, month, weekday] = now.map((value, index) =>
      allowed[index]?.has(value),
    );
    // As cron has it: with both days given, either will do.
    const isDay = isDayRestricted ? day || weekday : day && weekday;
    return Boolean(minute && hour && month && isDay);
  };
}

function parseField(expression: string, field: string, unit: (typeof units)[number]): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const [, range = "", step = "1"] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? [];
    const [first, last] = range === "*" ? [unit.from, unit.to] : range.split("-").map(number);
    const end = last ?? (part.includes("/") ? unit.to : first);
    const isReadable =
      first !== undefined &&
      end !== undefined &&
      first >= unit.from &&
      end <= unit.to &&
      first <= end;
    if (!isReadable || Number(step) < 1)
      throw unreadable(expression, `the ${unit.name} is "${field}"`);
    for (let value = first; value <= end; value += Number(step)) values.add(value);
  }
  return values;

  function number(text: string): number {
    const word = unit.words.indexOf(text.toUpperCase());
    if (word >= 0) return unit.from + word;
    return /^\d+$/.test(text) ? Number(text) : Number.NaN;
  }
}

function unreadable(expression: string, why: string): Refusal {
  return new Refusal(`cron trigger "${expression}" of wrangler.toml cannot be read: ${why}`);
}
