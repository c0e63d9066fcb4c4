import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { anyOf, columnsOf, quotePhrase } from "../../db/db.ts";
import { emailAddresses, users, type EmailAddress } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Maximum index matches considered, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Minimum characters of a text for the trigram index. */
const INDEXED_MIN = 3;

/** An address with the name of its account. */
export interface EmailOfAccount {
  address: EmailAddress;
  username: string;
}

/**
 * Lists the addresses of all accounts, by address: all of them, or those that contain a text themselves or in the name
 * of their account. A text of one or two characters matches at the beginning of addresses.
 */
export async function listAllEmails(
  { db }: Ctx,
  text: string,
  { size, offset }: Slice,
): Promise<Listed<EmailOfAccount>> {
  const isListed = matches(text.toLowerCase());
  const [rows, [counted]] = await db.batch([
    db
      .select({
        address: columnsOf(emailAddresses, "e"),
        username: sql<string>`${users.name}`.as("n"),
      })
      .from(emailAddresses)
      .innerJoin(users, eq(users.id, emailAddresses.userId))
      .where(isListed)
      .orderBy(asc(emailAddresses.lowerEmail))
      .limit(size)
      .offset(offset),
    db
      .select({ total: count().as("total") })
      .from(emailAddresses)
      .where(isListed),
  ]);
  return { items: rows, total: counted?.total ?? 0 };
}

function matches(text: string): SQL {
  // The full-text index ignores a text after its first NUL, and no address has one.
  if (text.includes("\0")) return sql`0`;
  const { lowerEmail } = emailAddresses;
  if ([...text].length < INDEXED_MIN) {
    return sql`(${lowerEmail} >= ${text} and ${lowerEmail} < ${`${text}\u{10ffff}`})`;
  }
  const phrase = quotePhrase(text);
  return anyOf(
    sql`${emailAddresses.id} in (
      select rowid
      from email_addresses_search
      where email_addresses_search match ${phrase}
      order by rowid desc
      limit ${MATCH_MAX}
    )`,
    sql`${emailAddresses.userId} in (
      select rowid
      from users_search
      where users_search match ${`{name full_name} : ${phrase}`}
      order by rowid desc
      limit ${MATCH_MAX}
    )`,
  );
}
