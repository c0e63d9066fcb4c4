import { z } from "zod";

import { Refusal } from "../refusal.ts";

const Listing = z.array(z.object({ name: z.string(), uuid: z.string() }));

/**
 * Replaces the database ids in wrangler.toml by those of an account.
 *
 * @param listing The output of `wrangler d1 list --json`.
 * @throws Refusal for a database that the account does not have.
 */
export function withDatabaseIds(toml: string, listing: string): string {
  const ids = new Map(Listing.parse(JSON.parse(listing)).map(({ name, uuid }) => [name, uuid]));
  // Section by section, since the name and the id of a database are in the same section, in any
  // order.
  const sections = toml.split(/^(?=\[)/m).map((section) => {
    if (!section.startsWith("[[d1_databases]]")) return section;
    const name = /^database_name\s*=\s*"([^"]*)"/m.exec(section)?.[1] ?? "";
    const id = ids.get(name);
    if (!id) throw new Refusal(`the account has no database "${name}"`);
    return section.replace(/^database_id\s*=.*$/m, `database_id = "${id}"`);
  });
  return `# Written by npm run deploy from wrangler.toml, which is the file to edit.\n${sections.join("")}`;
}
