import { inject } from "vitest";

import { parseConfig } from "../../../src/config.ts";
import type {
  ForeignFilter,
  ForeignItems,
  ForeignKind,
  ForeignPage,
  ForgeReader,
} from "../../../src/forges/forge.ts";
import { openGitLab } from "../../../src/forges/gitlab/open-gitlab.ts";
import { openOutgoing } from "../../../src/outgoing/open-outgoing.ts";
import { SAMPLE_PATH } from "./gitlab-sample.ts";
import type { Faults } from "./gitlab.ts";

export const ALL: ForeignFilter = { includesIssues: true, includesPulls: true };
export const NOW = Date.UTC(2026, 0, 1);
export const origin = inject("gitlab");

/** The guarded client, to which this machine is allowed. */
export const outgoing = openOutgoing(
  parseConfig({ ALLOWED_HOST_LIST: "loopback", DNS_RESOLVER_URL: "" }),
  "",
  "Edgeforge",
);

interface SampleOptions {
  path?: string;
  /** A token of one's own by default. */
  password?: string;
  username?: string;
  numbering?: string;
}

interface SampleReader {
  readonly reader: ForgeReader;
  readonly token: string;
}

/** Opens a reader of a project of the stand-in. */
export function openSample(options: SampleOptions = {}): SampleReader {
  const { path = SAMPLE_PATH, username = "", numbering } = options;
  const token = options.password ?? `glpat-${crypto.randomUUID()}`;
  const address = { url: `${origin}/${path}.git`, username, password: token };
  return { reader: openGitLab({ outgoing, now: () => NOW }, address, numbering), token };
}

/** Pages of a kind, each read by a reader that knows nothing of the ones before. */
export async function readPages<K extends ForeignKind>(
  kind: K,
  filter: ForeignFilter = ALL,
  options: SampleOptions = {},
): Promise<ForeignPage<ForeignItems[K]>[]> {
  const pages: ForeignPage<ForeignItems[K]>[] = [];
  let cursor: string | undefined;
  do {
    if (pages.length > 500) throw new Error("there is no last page");
    const page = await openSample(options).reader.readPage(kind, cursor, filter);
    pages.push(page);
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

/** All items of a kind. */
export async function readAll<K extends ForeignKind>(
  kind: K,
  filter: ForeignFilter = ALL,
  options: SampleOptions = {},
): Promise<ForeignItems[K][]> {
  return (await readPages(kind, filter, options)).flatMap(({ items }) => items);
}

/** Changes what goes wrong for requests with a token. */
export async function fail(token: string, faults: Faults | null): Promise<void> {
  const body = JSON.stringify(faults);
  await send(`${origin}/-/faults?token=${encodeURIComponent(token)}`, "POST", body);
}

/** Paths with queries that were asked for with a token. */
export async function requestsOf(token: string): Promise<string[]> {
  const text = await send(`${origin}/-/journal?token=${encodeURIComponent(token)}`, "GET");
  return JSON.parse(text) as string[];
}

async function send(url: string, method: "GET" | "POST", body?: string): Promise<string> {
  const limits = { timeoutMs: 10_000, bodyBytesMax: 10_000_000, redirectsMax: 0 };
  const outcome = await outgoing.fetchGuarded(url, { method, ...(body && { body }) }, limits);
  if (outcome.kind !== "answered") throw new Error(`the stand-in: ${outcome.kind}`);
  return new TextDecoder().decode(outcome.body);
}
