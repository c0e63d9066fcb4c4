import { type SQL, sql } from "drizzle-orm";

import { type Label, labels } from "../../../db/schema/index.ts";

// Removes every character but slashes from the end.
const scope = sql`rtrim(${labels.name}, replace(${labels.name}, '/', ''))`;

/**
 * The exclusive scope of a row of labels, as SQL: its name up to the last slash, with that slash;
 * null for a label that is not exclusive, and where the last slash begins or ends the name.
 */
export const exclusiveScope: SQL = sql`iif(
  ${labels.isExclusive} and ${scope} not in ('', '/', ${labels.name}), ${scope}, null
)`;

/** The exclusive scope of a label, as `exclusiveScope` finds it; undefined for none. */
export function exclusiveScopeOf({
  name,
  isExclusive,
}: Pick<Label, "name" | "isExclusive">): string | undefined {
  const found = name.slice(0, name.lastIndexOf("/") + 1);
  return isExclusive && !["", "/", name].includes(found) ? found : undefined;
}
