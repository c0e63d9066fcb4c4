import { Refusal } from "../refusal.ts";

const units = [
  { name: "minute", from: 0, to: 59, names: [] },
  { name: "hour", from: 0, to: 23, names: [] },
  { name: "day of the month", from: 1, to: 31, names: [] },
  {
    name: "month",
    from: 1,
    to: 12,
    names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" "),
  },
  // Cloudflare counts the days of the week from Sunday = 1.
  { name: "day of the week", from: 1, to: 7, names: "SUN MON TUE WED THU FRI SAT".split(" ") },
];

/** Whether a cron trigger is due in the minute of a date (UTC). */
export type Cron = (date: Date) => boolean;

/**
 * Reads the expression of a cron trigger: numbers, names, `*`, lists, ranges and steps.
 *
 * @see https://developers.cloudflare.com/workers/configuration/cron-triggers/
 * @throws Refusal for other syntax of Cloudflare's triggers (`L`, `W`, `#`), which would never fire
 *   here.
 */
export function parseCron(expression: string): Cron {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== units.length) throw invalidCron(expression, "five fields are expected");

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
    // As in cron: if both day fields are restricted, either may match.
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
    const isValid =
      first !== undefined &&
      end !== undefined &&
      first >= unit.from &&
      end <= unit.to &&
      first <= end;
    if (!isValid || Number(step) < 1)
      throw invalidCron(expression, `the ${unit.name} is "${field}"`);
    for (let value = first; value <= end; value += Number(step)) values.add(value);
  }
  return values;

  function number(text: string): number {
    const nameIndex = unit.names.indexOf(text.toUpperCase());
    if (nameIndex >= 0) return unit.from + nameIndex;
    return /^\d+$/.test(text) ? Number(text) : Number.NaN;
  }
}

function invalidCron(expression: string, reason: string): Refusal {
  return new Refusal(`cron trigger "${expression}" of wrangler.toml is invalid: ${reason}`);
}
