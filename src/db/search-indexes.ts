import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * Full-text indexes, which triggers keep: a row has the id of the row that it indexes. They are
 * virtual tables, which drizzle-kit can't create, and so stand outside of its schema.
 */
const searchIndex = <const Name extends string>(name: Name) =>
  sqliteTable(name, { rowid: integer().notNull() });

export const usersSearch = searchIndex("users_search");
export const emailAddressesSearch = searchIndex("email_addresses_search");
