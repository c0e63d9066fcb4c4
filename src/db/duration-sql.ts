import { sql, type SQL } from "drizzle-orm";

/**
 * The rule of `formatDuration` as an expression, for durations that a statement computes when it
 * writes them. A test compares the two.
 *
 * @param seconds An integer; a bound number is a float for D1.
 */
export function durationSql(seconds: SQL): SQL<string> {
  const count = (number: SQL, unit: string): SQL =>
    sql`(${number} || ${` ${unit}`} || iif(${number} = 1, '', 's'))`;
  const hours = sql`(${seconds} / 3600)`;
  const minutes = sql`(${seconds} / 60 % 60)`;
  return sql<string>`case
    when ${seconds} < 60 then ${count(seconds, "second")}
    when ${hours} = 0 then ${count(minutes, "minute")}
    when ${minutes} = 0 then ${count(hours, "hour")}
    else ${count(hours, "hour")} || ' ' || ${count(minutes, "minute")}
  end`;
}
