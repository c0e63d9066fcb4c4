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
import type { GitHubBehaviour, GitHubRequest } from "./github.ts";

/** Before the reset of the stand-in's rate limit. */
export const NOW = Date.UTC(2024, 4, 31);

export const ALL: ForeignFilter = { includesIssues: true, includesPulls: true };

/** The guarded client, to which this machine is allowed. */
export const outgoing = openOutgoing(
  parseConfig({ ALLOWED_HOST_LIST: "loopback", DNS_RESOLVER_URL: "" }),
  "",
  "Edgeforge",
);

/** A reader of the stand-in's project under an owner of its own. */
export interface SampleReader {
  reader: ForgeReader;
  /** Of its page. */
  url: string;
  requests: () => Promise<GitHubRequest[]>;
}

interface OpenOptions {
  behaviour?: GitHubBehaviour;
  name?: string;
  username?: string;
  password?: string;
}

export async function openSample(options: OpenOptions = {}): Promise<SampleReader> {
  const { behaviour = {}, name = "app", username = "", password = "" } = options;
  const here = inject("github");
  const owner = `owner-${crypto.randomUUID()}`;
  await fetch(`${here}/_behaviour/${owner}`, { method: "PUT", body: JSON.stringify(behaviour) });
  const url = `${here}/${owner}/${name}`;
  const address = { url: `${url}.git`, username, password };
  const reader = openForge("github", { outgoing, now: () => NOW }, address);
  if (!reader) throw new Error("GitHub has no reader");
  return {
    url,
    reader,
    requests: async () => await (await fetch(`${here}/_journal/${owner}`)).json(),
  };
}

/** Reads all pages of a kind, each by the cursor of the one before. */
export async function readPages<K extends ForeignKind>(
  reader: ForgeReader,
  kind: K,
  filter: ForeignFilter = ALL,
): Promise<ForeignPage<ForeignItems[K]>[]> {
  const pages = [await reader.readPage(kind, undefined, filter)];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
    if (pages.length > 50) throw new Error(`${kind} do not end`);
    pages.push(await reader.readPage(kind, next, filter));
  }
  return pages;
}

export const readAll = async <K extends ForeignKind>(
  reader: ForgeReader,
  kind: K,
  filter: ForeignFilter = ALL,
): Promise<ForeignItems[K][]> =>
  (await readPages(reader, kind, filter)).flatMap(({ items }) => items);
