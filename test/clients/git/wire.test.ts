import { describe, expect, it } from "vitest";

import { admin, makeRepo } from "../support/forge.ts";
import { git } from "../support/git.ts";
import { startGitServer } from "../support/git-server.ts";
import { makeHistory } from "../support/history.ts";
import { packOf } from "../support/raw-push.ts";

const NULL = "0".repeat(40);
const UNKNOWN = "1".repeat(40);

type Version = 0 | 1 | 2;

/** Formats lines as packets. A line of four digits, such as `0000`, is a marker. */
const pkts = (...lines: string[]): Buffer =>
  Buffer.from(
    lines
      .map((line) =>
        /^000[01]$/.test(line) ? line : (line.length + 4).toString(16).padStart(4, "0") + line,
      )
      .join(""),
    "latin1",
  );

/** Leaves the words of refusals to each server. */
const withoutReasons = (packets: readonly string[]): string[] =>
  packets.map((packet) => packet.replace(/^(unpack (?!ok\n)|ng \S+ ).*\n/, "$1…\n"));

/** Packets as text with their line feeds; a pack is the word `PACK` alone. */
function packetsOf(bytes: Buffer): string[] {
  const packets: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.toString("latin1", at, at + 4);
    if (digits === "PACK") return [...packets, digits];
    const length = Number.parseInt(digits, 16);
    packets.push(length < 4 ? digits : bytes.toString("latin1", at + 4, at + length));
    at += Math.max(length, 4);
  }
  return packets;
}

/**
 * Unwraps side-bands: frames of data are replaced by the packets or the pack that they contain, and
 * progress, which each server words as it likes, is left out.
 */
function withoutBands(packets: readonly string[], isAll: boolean): string[] {
  const plain: string[] = [];
  let data = "";
  for (const packet of packets) {
    const [band, content] = [packet.charCodeAt(0), packet.slice(1)];
    if (band === 2) continue;
    if (band === 1 && isAll && !data.startsWith("PACK") && !content.startsWith("PACK")) {
      plain.push(content);
    } else if (band === 1) {
      data += content;
    } else {
      plain.push(...packetsOf(Buffer.from(data, "latin1")), packet);
      data = "";
    }
  }
  return plain;
}

/** Sorts the commits of a boundary, whose order has no meaning, and the words of capabilities. */
function inOrder(packets: readonly string[]): string[] {
  const isBoundary = (packet: string): boolean => /^(?:un)?shallow /.test(packet);
  const boundary = packets.filter(isBoundary).toSorted();
  return packets.map((packet) => {
    if (isBoundary(packet)) return boundary.shift() ?? "";
    const [ref = "", words] = packet.split("\0");
    if (words === undefined) return packet.replace(/^agent=.*/, "agent=…");
    const known = words.replace(/\n$/, "").split(" ").toSorted().join(" ");
    return `${ref}\0${known.replace(/agent=\S+/, "agent=…")}${words.endsWith("\n") ? "\n" : ""}`;
  });
}

interface Server {
  readonly url: string;
  readonly user: string;
}

/** The packets of a response. */
async function ask(
  { url, user }: Server,
  version: Version,
  path: string,
  body?: Buffer,
): Promise<string[]> {
  const headers = {
    Authorization: `Basic ${btoa(user)}`,
    ...(version > 0 && { "Git-Protocol": `version=${version}` }),
    ...(body && { "Content-Type": `application/x-${path}-request` }),
  };
  const response = await fetch(`${url}/${path}`, {
    headers,
    ...(body && { method: "POST", body: new Uint8Array(body) }),
  });
  expect(response.status).toBe(200);
  const packets = packetsOf(Buffer.from(await response.arrayBuffer()));
  const isAll = body?.includes("sideband-all") ?? false;
  return withoutReasons(inOrder(withoutBands(packets, isAll)));
}

/** Empty repositories at the service and at git's own server, with the same features. */
async function makeServers(): Promise<{ ours: Server; theirs: Server }> {
  const repo = await makeRepo();
  const server = await startGitServer("git", "git");
  await server.create("theirs");
  const settings = [
    "uploadpack.allowFilter",
    "uploadpack.allowTipSHA1InWant",
    "uploadpack.allowReachableSHA1InWant",
    "uploadpack.allowRefInWant",
    "uploadpack.allowSidebandAll",
    "transfer.advertiseObjectInfo",
    "receive.advertisePushOptions",
  ];
  for (const name of settings) {
    await git(server.directoryOf("theirs"), ["config", name, "true"]);
  }
  return {
    ours: { url: repo.url, user: `${admin.name}:${admin.password}` },
    theirs: { url: server.url("theirs"), user: "git:git" },
  };
}

/** Both servers with the same history, and its directory. */
async function makeFilled(): Promise<{ ours: Server; theirs: Server; source: string }> {
  const servers = await makeServers();
  const source = await makeHistory();
  for (const { url, user } of Object.values(servers)) {
    const address = url.replace("://", `://${user.replaceAll(" ", "%20")}@`);
    await git(source, ["push", "--quiet", "--mirror", address]);
  }
  return { ...servers, source };
}

type Bodies = Readonly<Record<string, Buffer>>;

/** Expects the same packets from both servers for each body. */
async function expectSame(
  { ours, theirs }: { ours: Server; theirs: Server },
  version: Version,
  path: string,
  bodies: Bodies,
): Promise<void> {
  const askAll = async (server: Server) => {
    const answers: Record<string, string[]> = {};
    for (const [name, body] of Object.entries(bodies)) {
      answers[name] = await ask(server, version, path, body);
    }
    return answers;
  };
  const [actual, expected] = await Promise.all([askAll(ours), askAll(theirs)]);
  expect(actual).toEqual(expected);
  // Git's server only ends the connection at a request that it can't read.
  expect(Object.entries(expected).filter(([, packets]) => packets.length === 0)).toEqual([]);
}

/** Commits of the history by their distance from the newest one, and others. */
async function readOids(source: string): Promise<Record<string, string>> {
  const read = async (...revisions: string[]) =>
    (await git(source, ["rev-parse", ...revisions])).split("\n");
  const [tip = "", second = "", third = "", pages = "", tag = "", side = "", blob = ""] =
    await read("main", "main~1", "main~2", "pages", "v1", "left", "main:README.md");
  return { tip, second, third, pages, tag, side, blob };
}

/** Fetches of versions 0 and 1: wants and limits, then haves. */
function uploads(oids: Record<string, string>, words: string): Bodies {
  const { tip = "", second = "", third = "", pages = "", tag = "", side = "" } = oids;
  const want = (oid: string) => `want ${oid}${words} ofs-delta no-progress\n`;
  const have = (oid: string) => `have ${oid}\n`;
  const shallow = (oid: string) => `shallow ${oid}\n`;
  const single = !words.includes("multi_ack");
  return {
    clone: pkts(want(tip), "0000", "done\n"),
    "clone without line feeds": pkts(want(tip).trimEnd(), "0000", "done"),
    "two wants": pkts(want(tip), `want ${pages}\n`, "0000", "done\n"),
    "a tag": pkts(want(tag), "0000", "done\n"),
    "a common have": pkts(want(tip), "0000", have(second), "0000"),
    "an unknown have": pkts(want(tip), "0000", have(UNKNOWN), "0000"),
    "an unrelated have": pkts(want(tip), "0000", have(pages), "0000"),
    "a common have and done": pkts(want(tip), "0000", have(second), "done\n"),
    "an unknown have and done": pkts(want(tip), "0000", have(UNKNOWN), "done\n"),
    "mixed haves and done": pkts(want(tip), "0000", have(UNKNOWN), have(third), "done\n"),
    // Without multi_ack, git's server acknowledges also ancestors of the first common commit, where
    // the protocol has one acknowledgment.
    ...(!single && {
      "common haves": pkts(want(tip), "0000", have(second), have(third), "0000"),
      "common haves and done": pkts(want(tip), "0000", have(second), have(third), "done\n"),
    }),
    "an empty round": pkts(want(tip), "0000", "0000"),
    "depth 1": pkts(want(tip), "deepen 1\n", "0000"),
    "depth 1 and an empty round": pkts(want(tip), "deepen 1\n", "0000", "0000"),
    "depth 1 and done": pkts(want(tip), "deepen 1\n", "0000", "done\n"),
    "depth 3": pkts(want(tip), "deepen 3\n", "0000"),
    "depth 3 and done": pkts(want(tip), "deepen 3\n", "0000", "done\n"),
    "depth of two": pkts(want(tip), `want ${pages}\n`, "deepen 1\n", "0000"),
    deepened: pkts(want(tip), shallow(tip), "deepen 2\n", "0000"),
    "deepened and done": pkts(want(tip), shallow(tip), "deepen 3\n", "0000", have(tip), "done\n"),
    unshallowed: pkts(want(tip), shallow(tip), "deepen 2147483647\n", "0000"),
    "unshallowed without a want": pkts(
      want(tip),
      shallow(tip),
      shallow(side),
      "deepen 2147483647\n",
      "0000",
    ),
    "unshallowed and done": pkts(
      want(tip),
      shallow(tip),
      "deepen 2147483647\n",
      "0000",
      have(tip),
      "done\n",
    ),
    "a boundary that stays": pkts(want(tip), shallow(second), "0000", have(second), "done\n"),
    "an unknown boundary": pkts(want(tip), shallow(UNKNOWN), "deepen 1\n", "0000", "done\n"),
    "a depth from the boundary": pkts(
      want(tip).replace("\n", " deepen-relative\n"),
      shallow(third),
      "deepen 1\n",
      "0000",
      have(tip),
      "done\n",
    ),
    "since a time": pkts(want(tip), "deepen-since 1700000500\n", "0000", "done\n"),
    "without a ref": pkts(want(tip), "deepen-not refs/tags/light\n", "0000", "done\n"),
    "a filter": pkts(want(tip).replace("\n", " filter\n"), "filter blob:none\n", "0000", "done\n"),
    "an unknown want": pkts(want(UNKNOWN), "0000", "done\n"),
  };
}

/** Commands of version 2. */
function commands(oids: Record<string, string>): Bodies {
  const { tip = "", second = "", third = "", pages = "", blob = "" } = oids;
  const bodies: Record<string, Buffer> = {};
  const add = (name: string, command: string, ...args: string[]): void => {
    const words = ["agent=test\n", "object-format=sha1\n"];
    const lines = args.map((arg) => `${arg}\n`);
    bodies[name] = pkts(`command=${command}\n`, ...words, "0001", ...lines, "0000");
  };
  add("all refs", "ls-refs");
  add("attributes of refs", "ls-refs", "peel", "symrefs", "unborn");
  add("refs by prefix", "ls-refs", "peel", "symrefs", "ref-prefix HEAD", "ref-prefix refs/tags/");
  add("no refs", "ls-refs", "ref-prefix nothing");
  add("sizes", "object-info", "size", `oid ${tip}`, `oid ${blob}`, `oid ${UNKNOWN}`);
  for (const words of [[], ["sideband-all"]]) {
    const fetch = (name: string, ...args: string[]): void =>
      add([name, ...words].join(", "), "fetch", ...words, "no-progress", ...args);
    fetch("clone", `want ${tip}`, "done");
    fetch("a want alone", `want ${tip}`);
    fetch("a common have", `want ${tip}`, `have ${second}`);
    fetch("common haves", `want ${tip}`, `have ${second}`, `have ${third}`);
    fetch("a client that waits", `want ${tip}`, `have ${second}`, "wait-for-done");
    fetch("an unknown have", `want ${tip}`, `have ${UNKNOWN}`);
    fetch("an unrelated have", `want ${tip}`, `have ${pages}`);
    fetch("a common have and done", `want ${tip}`, `have ${second}`, "done");
    fetch("depth 1", `want ${tip}`, "deepen 1", "done");
    fetch("depth 3", `want ${tip}`, "deepen 3", "done");
    fetch("deepened", `want ${tip}`, `shallow ${tip}`, "deepen 3", `have ${tip}`, "done");
    fetch("deepened, not ready", `want ${tip}`, `shallow ${tip}`, "deepen 3", `have ${UNKNOWN}`);
    const infinite = "deepen 2147483647";
    fetch("unshallowed", `want ${tip}`, `shallow ${tip}`, infinite, `have ${tip}`, "done");
    fetch("unshallowed, ready", `want ${tip}`, `shallow ${tip}`, infinite, `have ${tip}`);
    const relative = ["deepen 1", "deepen-relative", `have ${tip}`, "done"];
    fetch("a depth from the boundary", `want ${tip}`, `shallow ${third}`, ...relative);
    fetch("since a time", `want ${tip}`, "deepen-since 1700000500", "done");
    fetch("without a ref", `want ${tip}`, "deepen-not refs/tags/light", "done");
    fetch("a boundary that stays", `want ${tip}`, `shallow ${second}`, `have ${second}`, "done");
    fetch("wants by name", "want-ref refs/heads/main", "want-ref refs/tags/v1", "done");
    fetch("an unknown name", "want-ref refs/heads/täst", "done");
    fetch("an unknown want", `want ${UNKNOWN}`, "done");
    fetch("a filter", `want ${tip}`, "filter blob:none", "done");
  }
  return bodies;
}

describe("the packets of git's own server, line feed by line feed,", () => {
  it("advertise an empty and a filled repository in each version", async () => {
    for (const servers of [await makeServers(), await makeFilled()]) {
      for (const service of ["git-upload-pack", "git-receive-pack"]) {
        for (const version of [0, 1, 2] as const) {
          const path = `info/refs?service=${service}`;
          const [actual, expected] = await Promise.all([
            ask(servers.ours, version, path),
            ask(servers.theirs, version, path),
          ]);
          // In version 2, git leaves out the line of the service, which Gitea and GitHub send.
          if (version === 2) expected.unshift(`# service=${service}\n`, "0000");
          // Git 2.39 lists no capabilities where there is nothing to fetch.
          const isOld = expected.every((packet) => !packet.includes("\0"));
          const compared = isOld ? actual.filter((packet) => !packet.includes("\0")) : actual;
          expect(compared).toEqual(expected);
        }
      }
    }
  });

  it.each([
    [0, " side-band-64k"],
    [0, " multi_ack_detailed side-band"],
    [1, " multi_ack_detailed no-done side-band-64k"],
  ] as const)("answer fetches of version %i with%s", async (version, words) => {
    const servers = await makeFilled();
    const bodies = uploads(await readOids(servers.source), words);
    await expectSame(servers, version, "git-upload-pack", bodies);
  });

  it("answer commands of version 2", async () => {
    const servers = await makeFilled();
    const bodies = commands(await readOids(servers.source));
    await expectSame(servers, 2, "git-upload-pack", bodies);
  });

  it.each(["", " side-band-64k"])("report pushes with%s", async (bands) => {
    const servers = await makeFilled();
    const { source } = servers;
    const { tip = "", second = "", tag = "" } = await readOids(source);
    const pack = packOf(source, [tip, `^${second}`]);
    const none = packOf(source, []);
    const push = (bytes: Uint8Array, words: string, ...lines: [string, string, string][]): Buffer =>
      Buffer.concat([
        pkts(
          ...lines.map(
            ([from, to, ref], at) =>
              `${from} ${to} refs/${ref}${at === 0 ? `\0${words}${bands} quiet` : ""}\n`,
          ),
          "0000",
        ),
        bytes,
      ]);
    const [v1, v2] = ["report-status", "report-status report-status-v2"];
    await expectSame(servers, 0, "git-receive-pack", {
      "a branch": push(pack, v1, [NULL, tip, "heads/new"]),
      "two refs": push(none, v2, [NULL, tip, "heads/a"], [NULL, tag, "tags/again"]),
      "an update back": push(none, v2, [tip, second, "heads/new"]),
      "a deletion": push(Buffer.alloc(0), v1, [second, NULL, "heads/new"]),
      "a deletion and a branch": push(none, v2, [tip, NULL, "heads/a"], [NULL, tip, "heads/b"]),
      "a damaged pack": push(pack.subarray(0, -1), v1, [NULL, tip, "heads/c"]),
      "an invalid name": push(none, v1, [NULL, tip, "heads/a..b"]),
      "a wrong old value": push(none, v1, [second, tip, "heads/b"]),
      "an atomic refusal": push(
        none,
        `${v1} atomic`,
        [NULL, tip, "heads/d"],
        [second, tip, "heads/b"],
      ),
      "a missing object": push(none, v1, [NULL, UNKNOWN, "heads/e"]),
    });
  });
});
