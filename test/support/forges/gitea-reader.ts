import { inject } from "vitest";

import { parseConfig } from "../../../src/config.ts";
import type {
  ForeignFilter,
  ForeignItems,
  ForeignKind,
  ForeignPage,
  ForgeReader,
} from "../../../src/forges/forge.ts";
import { openForge } from "../../../src/forges/open-forge.ts";
import { openOutgoing } from "../../../src/outgoing/open-outgoing.ts";
import type { GiteaBehaviour, GiteaJournalEntry } from "./gitea.ts";

export const NOW = Date.UTC(2024, 4, 31);

export const ALL: ForeignFilter = { includesIssues: true, includesPulls: true };

/** A reader of the stand-in's project, on a server of its own as it seems. */
export interface GiteaSampleReader {
  reader: ForgeReader;
  /** Of the server's pages. */
  rootUrl: string;
  /** Of the project's page. */
  url: string;
  readonly requests: () => Promise<GiteaJournalEntry[]>;
}

interface OpenOptions {
  behaviour?: GiteaBehaviour;
  name?: string;
  username?: string;
  password?: string;
}

export async function openGiteaSample(options: OpenOptions = {}): Promise<GiteaSampleReader> {
  const { behaviour = {}, name = "app", username = "", password = "" } = options;
  const here = inject("gitea");
  const instance = `at-${crypto.randomUUID()}`;
  await fetch(`${here}/_behaviour/${instance}`, { method: "PUT", body: JSON.stringify(behaviour) });
  const rootUrl = `${here}/${instance}`;
  const url = `${rootUrl}/gardeners/${name}`;
  const address = { url: `${url}.git`, username, password };
  const reader = openForge(behaviour.isGogs ? "gogs" : "gitea", access(), address);
  if (!reader) throw new Error("no reader");
  return {
    reader,
    rootUrl,
    url,
    requests: async () => await (await fetch(`${here}/_journal/${instance}`)).json(),
  };
}

/** The guarded client, to which this machine is allowed. */
export const access = () => ({
  outgoing: openOutgoing(
    parseConfig({ ALLOWED_HOST_LIST: "loopback", DNS_RESOLVER_URL: "" }),
    "",
    "Edgeforge",
  ),
  now: () => NOW,
});

/** More pages than any list of the sample has, even with one item each. */
const PAGES_MAX = 200;

/** Reads all pages of a kind, each by the cursor of the one before. */
export async function readPages<K extends ForeignKind>(
  reader: ForgeReader,
  kind: K,
  filter: ForeignFilter = ALL,
): Promise<ForeignPage<ForeignItems[K]>[]> {
  const pages: ForeignPage<ForeignItems[K]>[] = [];
  let cursor: string | undefined;
  do {
    const page: ForeignPage<ForeignItems[K]> = await reader.readPage(kind, cursor, filter);
    pages.push(page);
    if (pages.length > PAGES_MAX) throw new Error(`the pages of ${kind} have no end`);
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

export async function readAll<K extends ForeignKind>(
  reader: ForgeReader,
  kind: K,
  filter: ForeignFilter = ALL,
): Promise<ForeignItems[K][]> {
  return (await readPages(reader, kind, filter)).flatMap(({ items }) => items);
}
