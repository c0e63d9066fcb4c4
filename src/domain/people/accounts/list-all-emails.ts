import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf, columnsOf, quotePhrase } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { emailAddressesSearch, usersSearch } from "../../../db/search-indexes.ts";
import { emailAddresses, users, type EmailAddress } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

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
 * Lists the addresses of all accounts, by address: all of them, or those that contain a text
 * themselves or in the name of their account. A text of one or two characters matches at the
 * beginning of addresses.
 */
export async function listAllEmails(
  { db }: Ctx,
  text: string,
  { size, offset }: Slice,
): Promise<Listed<EmailOfAccount>> {
  const lower = text.toLowerCase();
  // The full-text index ignores a text after its first NUL, and no address has one.
  if (lower.includes("\0")) return { items: [], total: 0 };
  const search = toSearch(lower);
  return toListedPage(
    await batch(db, {
      rows: addressesFound(db, { search, size, offset }),
      counted: addressCount(db, { search }),
    }),
  );
}

/**
 * A search for addresses: by an interval that they are in, or by phrases of the full-text indexes.
 */
type Search =
  | { readonly from: string; readonly to: string }
  | { readonly ofAddress: string; readonly ofAccount: string };

function toSearch(lower: string): Search {
  if ([...lower].length < INDEXED_MIN) return { from: lower, to: `${lower}\u{10ffff}` };
  const phrase = quotePhrase(lower);
  return { ofAddress: phrase, ofAccount: `{name full_name} : ${phrase}` };
}

interface Found {
  readonly search: Search;
}

function isFound({ search }: Params<Found>): SQL {
  const { lowerEmail } = emailAddresses;
  if ("from" in search) {
    return sql`(${lowerEmail} >= ${search.from} and ${lowerEmail} < ${search.to})`;
  }
  return anyOf(
    sql`${emailAddresses.id} in (
      select ${emailAddressesSearch.rowid}
      from ${emailAddressesSearch}
      where ${emailAddressesSearch} match ${search.ofAddress}
      order by ${emailAddressesSearch.rowid} desc
      limit ${MATCH_MAX}
    )`,
    sql`${emailAddresses.userId} in (
      select ${usersSearch.rowid}
      from ${usersSearch}
      where ${usersSearch} match ${search.ofAccount}
      order by ${usersSearch.rowid} desc
      limit ${MATCH_MAX}
    )`,
  );
}

const addressesFound = prepare((db, p: Params<Found & Slice>) =>
  db
    .select({
      address: columnsOf(emailAddresses, "e"),
      username: sql<string>`${users.name}`.as("n"),
    })
    .from(emailAddresses)
    .innerJoin(users, eq(users.id, emailAddresses.userId))
    .where(isFound(p))
    .orderBy(asc(emailAddresses.lowerEmail))
    .limit(p.size)
    .offset(p.offset),
);

const addressCount = prepare((db, p: Params<Found>) =>
  db
    .select({ total: count().as("total") })
    .from(emailAddresses)
    .where(isFound(p)),
);
