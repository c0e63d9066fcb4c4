import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Ctx } from "../../context.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import type { RegistryRequest } from "../enter-registry.ts";
import { enterOwner } from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { baseOf, enterNuget } from "./enter-nuget.ts";
import { keepSeen, type Listing, listStored, listStoredListings } from "./listings.ts";
import { requireNugetVersion } from "./names.ts";
import { nugetVersionKey } from "./nuget-version.ts";
import { readApiKey } from "./read-api-key.ts";
import { searchListings } from "./search.ts";
import {
  formatEntry,
  formatFeed,
  formatSchema,
  formatService,
  toFilterEntry,
  type V2Entry,
} from "./v2-documents.ts";
import { parseEntryPath, readText, readV2Query, type V2Query } from "./v2-query.ts";

/** The routes for clients of version 2 of the protocol. */
export const nugetV2 = new Hono<RegistryEnv>({ router: new TrieRouter() });

const ATOM = "application/atom+xml; type=feed; charset=utf-8";
const ENTRY = "application/atom+xml; type=entry; charset=utf-8";
const XML = "application/xml; charset=utf-8";
/** The header that these clients look for. */
const ODATA = { DataServiceVersion: "2.0;" };

nugetV2.get("/", async (c) => {
  const request = await enterOwner(c, { mode: "read", credential: readApiKey(c) });
  return c.body(formatService(baseOf(request)), 200, { ...ODATA, "Content-Type": XML });
});

nugetV2.get("/$metadata", async (c) => {
  await enterOwner(c, { mode: "read", credential: readApiKey(c) });
  return c.body(formatSchema(), 200, { ...ODATA, "Content-Type": XML });
});

/**
 * The lists of version 2 of the protocol, by what their paths are called: the versions that each is
 * made of.
 */
const V2_LISTS: Readonly<
  Record<
    string,
    (c: RegistryContext, request: RegistryRequest, query: V2Query) => Promise<Listing[]>
  >
> = {
  Packages: (_, request, { filter }) =>
    filter?.id === undefined ? searchListings(request, "") : listById(request, filter.id),
  FindPackagesById: (c, request) => listById(request, readText(c.req.query("id"))),
  Search: async (c, request, { hasPrereleases }) => {
    const found = await searchListings(request, readText(c.req.query("searchTerm")));
    return keepSeen(found, { hasPrereleases, hasSemVer2: true });
  },
};

for (const [name, list] of Object.entries(V2_LISTS)) {
  const find = async (c: RegistryContext) => {
    const query = readV2Query(c);
    const request = await enterNuget(c);
    const { hasSemVer2 } = query;
    const listed = keepSeen(await list(c, request, query), { hasPrereleases: true, hasSemVer2 });
    const entries = listed.map((listing) => ({ listing, entry: toFilterEntry(listing) }));
    const matching = entries.filter(({ entry }) => query.filter?.matches(entry) ?? true);
    const sorted = matching.toSorted((a, b) => query.compare(a.entry, b.entry));
    return { request, query, listings: sorted.map(({ listing }) => listing) };
  };
  nugetV2.on("GET", [`/${name}`, `/${name}()`], async (c) => {
    const { request, query, listings } = await find(c);
    const { skip, take, hasTotal } = query;
    const base = baseOf(request);
    const entries = await toEntries(request.ctx, listings.slice(skip, skip + take));
    const feed = formatFeed(base, {
      path: name,
      entries,
      total: hasTotal ? listings.length : undefined,
      next: listings.length > skip + take && take > 0 ? nextUrl(c, base, name, query) : undefined,
    });
    return c.body(feed, 200, { ...ODATA, "Content-Type": ATOM });
  });
  nugetV2.on("GET", [`/${name}/$count`, `/${name}()/$count`], async (c) => {
    const { listings } = await find(c);
    return c.text(String(listings.length), 200, ODATA);
  });
}

nugetV2.get("/:entry{Packages\\(.+\\)}", async (c) => {
  const key = parseEntryPath(c.req.param("entry"));
  if (!key) throw malformed("a package is asked for by Packages(Id='<id>',Version='<version>')");
  const version = requireNugetVersion(key.version);
  const request = await enterNuget(c);
  const listings = await listById(request, key.id);
  const found = listings.find((each) => nugetVersionKey(each.version) === nugetVersionKey(version));
  const [entry] = found ? await toEntries(request.ctx, [found]) : [];
  if (!entry) throw notFound("the version does not exist");
  return c.body(formatEntry(baseOf(request), entry), 200, { ...ODATA, "Content-Type": ENTRY });
});

/** Lists the versions of one package, in one round trip with all that entries show. */
const listById = ({ ctx, owner, sees }: RegistryRequest, id: string): Promise<Listing[]> =>
  listStoredListings(ctx, owner.account.id, id, sees);

/** Versions as entries; reads what the list does not have. */
async function toEntries(ctx: Ctx, listings: readonly Listing[]): Promise<V2Entry[]> {
  const rest = listings.filter(({ stored }) => !stored).map(({ versionId }) => versionId);
  const read = rest.length > 0 ? await listStored(ctx, rest) : [];
  return listings.flatMap((listing): V2Entry[] => {
    const found = listing.stored ?? read.find(({ row }) => row.id === listing.versionId);
    return found ? [[listing, found]] : [];
  });
}

/** The URL of the page after this one. */
function nextUrl(c: RegistryContext, base: string, name: string, { skip, take }: V2Query): string {
  const query = new URL(c.req.url).searchParams;
  query.set("$skip", String(skip + take));
  query.set("$top", String(take));
  return `${base}/${name}()?${query}`;
}
