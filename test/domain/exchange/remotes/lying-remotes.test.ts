import { describe, expect, it } from "vitest";

import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { oidBytes } from "../../../../src/git/oid.ts";
import { PackBuilder } from "../../../../src/git/pack/pack-builder.ts";
import {
  formatAdvertisement,
  formatCapabilityAdvertisement,
  formatErrorPkt,
  formatServiceHeader,
} from "../../../../src/git/wire/advertisement.ts";
import { parseCapabilities } from "../../../../src/git/wire/capabilities.ts";
import { formatFetchResponse } from "../../../../src/git/wire/fetch-response.ts";
import { FLUSH_PKT, formatLine, joinBytes } from "../../../../src/git/wire/pkt-line.ts";
import {
  BAND_DATA,
  formatBandError,
  formatFrames,
  formatProgress,
} from "../../../../src/git/wire/side-band.ts";
import type { RemoteFailureKind } from "../../../../src/outgoing/remote-failure.ts";
import type { RemoteLimits } from "../../../../src/domain/exchange/remotes/smart-http.ts";
import { codec } from "../../../../src/storage/codec.ts";
import { failureOf, makeMirror, namedRefs, pushTo, syncFrom } from "../../../support/mirrors.ts";
import { filesOf, makeCommit, refsOf, storePush } from "../../../support/push.ts";
import { makeScripted } from "../../../support/remotes.ts";

type Script = Parameters<typeof makeScripted>[0];

const type = (name: string) => ({ "Content-Type": `application/x-git-${name}` });
const ADVERTISED = { headers: type("upload-pack-advertisement") };
const RESULT = { headers: type("upload-pack-result") };
const CAPABILITIES = ["agent=liar/1", "ls-refs=unborn", "fetch=shallow", "object-format=sha1"];

const COMMIT = makeCommit("a commit of a remote");
const OTHER = makeCommit("another commit");

const advertisement = (words: readonly string[] = CAPABILITIES): Uint8Array =>
  joinBytes([
    formatServiceHeader("git-upload-pack"),
    formatCapabilityAdvertisement(parseCapabilities(words)),
  ]);

const list = (...lines: string[]): Uint8Array => joinBytes([...lines.map(formatLine), FLUSH_PKT]);

const REFS = list(
  `${COMMIT.oid} HEAD symref-target:refs/heads/main`,
  `${COMMIT.oid} refs/heads/main`,
);

const PACKFILE = formatFetchResponse({ hasPack: true });
const framed = (...pieces: Uint8Array[]): Uint8Array =>
  joinBytes([PACKFILE, ...pieces.map((piece) => formatFrames(BAND_DATA, piece))]);
const ended = (...pieces: Uint8Array[]): Uint8Array => joinBytes([framed(...pieces), FLUSH_PKT]);

/** An honest remote of one commit, except for some answers. */
const script = (answers: Script): Script => ({
  refs: { ...ADVERTISED, body: advertisement() },
  "ls-refs": { ...RESULT, body: REFS },
  fetch: { ...RESULT, body: ended(COMMIT.pack) },
  ...answers,
});

/**
 * The beginning of a pack of one blob of 4 GB, and a block of zeros as its content goes on with.
 */
const ENDLESS_START = joinBytes([
  encodeUtf8("PACK"),
  Uint8Array.of(0, 0, 0, 2, 0, 0, 0, 1),
  Uint8Array.of(0xbf, 0xff, 0xff, 0xff, 0x7f),
  Uint8Array.of(0x78, 0x01),
]);
const STORED_BLOCK = joinBytes([Uint8Array.of(0, 0xff, 0xff, 0, 0), new Uint8Array(65_535)]);

/** A pack with a tree that no client may check out. */
function hostilePack() {
  const builder = new PackBuilder(codec);
  const blob = builder.add("blob", encodeUtf8("x"));
  const tree = builder.add("tree", joinBytes([encodeUtf8("100644 .git\0"), oidBytes(blob)]));
  const who = "A <a@example.com> 1700000000 +0000";
  const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nx\n`;
  const oid = builder.add("commit", encodeUtf8(text));
  return { oid, pack: builder.build() };
}

const HOSTILE = hostilePack();
const damaged = COMMIT.pack.slice();
damaged[damaged.length - 30] = (damaged[damaged.length - 30] ?? 0) ^ 0xff;

type Ending = Pick<Script[string], "ending" | "repeated">;
const fetched = (body: Uint8Array, ending: Ending = {}): Script =>
  script({ fetch: { ...RESULT, body, ...ending } });
const listed = (body: Uint8Array, ending: Ending = {}): Script =>
  script({ "ls-refs": { ...RESULT, body, ...ending } });
const advertised = (body: Uint8Array, ending: Ending = {}): Script =>
  script({ refs: { ...ADVERTISED, body, ...ending } });
const HANG: Ending = { ending: "hang" };
const without = (repeated: Uint8Array): Ending => ({ repeated });
const NOTHING = new Uint8Array(0);

const SMALL: Partial<RemoteLimits> = { packBytesMax: 100_000, refsBytesMax: 100_000 };
const QUICK: Partial<RemoteLimits> = { idleMs: 300 };

const CASES: readonly [string, RemoteFailureKind, RegExp, Script, Partial<RemoteLimits>?][] = [
  ["sends other objects", "protocol", /lacks [0-9a-f]{40}/, fetched(ended(OTHER.pack))],
  ["sends an empty pack", "protocol", /lacks/, fetched(ended(new PackBuilder(codec).build()))],
  ["sends no pack bytes", "protocol", /pack/, fetched(ended())],
  ["sends a pack with a missing object", "protocol", /refused/, fetched(ended(COMMIT.holed))],
  ["sends a damaged pack", "protocol", /refused/, fetched(ended(damaged))],
  ["sends half a pack", "protocol", /refused/, fetched(ended(COMMIT.pack.slice(0, 100)))],
  [
    "breaks off in a pack",
    "unreachable",
    /broke off/,
    fetched(framed(COMMIT.pack.slice(0, 100)), { ending: "break" }),
  ],
  ["ends without a flush", "protocol", /too early/, fetched(framed(COMMIT.pack))],
  [
    "ends inside of a packet",
    "protocol",
    /inside of a packet/,
    fetched(framed(COMMIT.pack).slice(0, -9)),
  ],
  [
    "hangs in a pack",
    "timeout",
    /too long/,
    fetched(framed(COMMIT.pack.slice(0, 100)), HANG),
    QUICK,
  ],
  [
    "sends an object that no client may check out",
    "protocol",
    /refused: .*\.git/i,
    script({
      "ls-refs": { ...RESULT, body: list(`${HOSTILE.oid} refs/heads/main`) },
      fetch: { ...RESULT, body: ended(HOSTILE.pack) },
    }),
  ],
  [
    "sends progress without end",
    "too_large",
    /more than/,
    fetched(PACKFILE, without(formatProgress("x".repeat(60_000)))),
    SMALL,
  ],
  [
    "sends a pack without end",
    "protocol",
    /refused/,
    fetched(framed(COMMIT.pack), without(formatFrames(BAND_DATA, COMMIT.pack))),
    // More than is received at once.
    { packBytesMax: 1_000_000 },
  ],
  [
    "sends an object without end",
    "too_large",
    /more than 100000 bytes/,
    fetched(framed(ENDLESS_START), without(formatFrames(BAND_DATA, STORED_BLOCK))),
    SMALL,
  ],
  [
    "sends more than a pack may have",
    "too_large",
    /more than 50 bytes/,
    fetched(ended(COMMIT.pack)),
    { packBytesMax: 50 },
  ],
  [
    "reports an error",
    "refused",
    /the server says: out of memory/,
    fetched(joinBytes([PACKFILE, formatBandError("out of memory")])),
  ],
  [
    "refuses to fetch",
    "refused",
    /the server says: not our ref/,
    fetched(formatErrorPkt("not our ref")),
  ],
  [
    "is shallow",
    "protocol",
    /shallow/,
    fetched(
      formatFetchResponse({
        shallow: { shallowOids: [COMMIT.oid], unshallowOids: [] },
        hasPack: true,
      }),
    ),
  ],
  [
    "never sends a pack",
    "protocol",
    /no pack/,
    fetched(
      formatFetchResponse({ acknowledgments: { commonOids: [], isReady: false }, hasPack: false }),
    ),
  ],
  [
    "acknowledges what was not asked",
    "protocol",
    /no pack/,
    fetched(
      formatFetchResponse({
        acknowledgments: { commonOids: [OTHER.oid], isReady: false },
        hasPack: false,
      }),
    ),
  ],
  [
    "sends sections that don't exist",
    "protocol",
    /unexpected line/,
    fetched(joinBytes([formatLine("surprise"), FLUSH_PKT])),
  ],
  ["sends no packets", "protocol", /pkt-line/, fetched(encodeUtf8("<html>"))],
  ["lists what is no id", "protocol", /not an object id/, listed(list("zz refs/heads/main"))],
  ["refuses to list", "refused", /the server says: go away/, listed(formatErrorPkt("go away"))],
  [
    "lists refs without end",
    "too_large",
    /more than/,
    listed(NOTHING, without(formatLine(`${COMMIT.oid} refs/heads/main`))),
    SMALL,
  ],
  ["lists half of its refs", "protocol", /too early/, listed(REFS.slice(0, 60))],
  ["hangs while it lists", "timeout", /./, listed(REFS.slice(0, 60), HANG), QUICK],
  [
    "advertises without end",
    "too_large",
    /more than/,
    advertised(NOTHING, without(formatLine("x".repeat(1000)))),
    SMALL,
  ],
  ["advertises half", "protocol", /too early/, advertised(advertisement().slice(0, -4))],
  [
    "has another hash",
    "protocol",
    /sha256/,
    advertised(advertisement(["ls-refs", "fetch", "object-format=sha256"])),
  ],
  ["has no commands", "protocol", /no command ls-refs/, advertised(advertisement(["agent=x"]))],
  [
    "refuses at once",
    "refused",
    /the server says: no/,
    advertised(joinBytes([formatServiceHeader("git-upload-pack"), formatErrorPkt("no")])),
  ],
  [
    "is a web page",
    "protocol",
    /no git repository/,
    script({ refs: { headers: { "Content-Type": "text/html" }, body: encodeUtf8("hi") } }),
  ],
  [
    "redirects later requests",
    "protocol",
    /302/,
    script({ fetch: { status: 302, headers: { Location: "/git/x" } } }),
  ],
  ["fails", "server", /failed \(500\)/, script({ fetch: { status: 500 } })],
  ["is gone", "not_found", /\(404\)/, script({ refs: { status: 404 } })],
  ["forbids", "unauthorized", /\(403\)/, script({ refs: { status: 403 } })],
];

describe("a remote that lies", () => {
  it.each(CASES)("%s: %s", async (_name, kind, message, answers, limits = {}) => {
    const { repo } = await makeMirror();
    const own = makeCommit("what was here");
    await storePush(repo, "refs/heads/own", own.oid, own.pack);
    const before = [await refsOf(repo), await filesOf(repo)];
    const remote = await makeScripted(answers);
    const failure = await failureOf(syncFrom(repo, remote.url("scripted"), {}, { limits }));
    expect(failure).toMatchObject({ name: "RemoteFailure", kind });
    expect(failure.message).toMatch(message);
    expect([await refsOf(repo), await filesOf(repo)]).toEqual(before);
  });

  it("is shown to be honest by its script otherwise", async () => {
    const { repo } = await makeMirror();
    const remote = await makeScripted(script({}));
    await syncFrom(repo, remote.url("scripted"));
    expect(await namedRefs(repo)).toEqual({ "refs/heads/main": COMMIT.oid });
  });

  it("has refs of forbidden names, which are skipped", async () => {
    const { repo } = await makeMirror();
    const names = [
      "refs/heads/../x",
      "refs/heads/a~b",
      "refs/heads/-x",
      "../../etc",
      "refs/heads/x.lock",
    ];
    const lines = names.map((name) => `${COMMIT.oid} ${name}`);
    const body = list(...lines, `${COMMIT.oid} refs/heads/main`, `${OTHER.oid} refs/heads/main`);
    const remote = await makeScripted(listed(body));
    const { skipped } = await syncFrom(repo, remote.url("scripted"));
    expect(skipped).toHaveLength(names.length + 1);
    expect(await namedRefs(repo)).toEqual({ "refs/heads/main": COMMIT.oid });
  });

  it("says when it wants to be asked again", async () => {
    const { repo } = await makeMirror();
    const at = Math.floor(Date.now() / 1000) + 600;
    const headers: [Record<string, string>, number][] = [
      [{ "Retry-After": "600" }, 429],
      [{ "Retry-After": new Date(at * 1000).toUTCString() }, 429],
      [{ "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(at) }, 403],
    ];
    for (const [each, status] of headers) {
      const remote = await makeScripted(script({ refs: { status, headers: each } }));
      const failure = await failureOf(syncFrom(repo, remote.url("scripted")));
      expect(failure.kind).toBe("rate_limited");
      expect(Math.abs((failure.retryAt ?? 0) - at * 1000)).toBeLessThan(20_000);
    }
  });

  it("may not choose the branch of HEAD by a name that no branch may have", async () => {
    const { repo } = await makeMirror();
    const body = list(
      `${COMMIT.oid} HEAD symref-target:refs/heads/../../x`,
      `${COMMIT.oid} refs/heads/main`,
    );
    const remote = await makeScripted(listed(body));
    expect(await syncFrom(repo, remote.url("scripted"))).toMatchObject({ head: "refs/heads/main" });
  });
});

describe("a remote that lies about pushes", () => {
  const PUSHED = { headers: type("receive-pack-advertisement") };
  const REPORT = { headers: type("receive-pack-result") };
  const offer = (words: string) =>
    joinBytes([
      formatServiceHeader("git-receive-pack"),
      formatAdvertisement([], parseCapabilities(words.split(" "))),
    ]);
  const OFFER = "report-status side-band-64k delete-refs ofs-delta atomic";
  const report = (...lines: string[]) =>
    joinBytes([formatFrames(BAND_DATA, list(...lines)), FLUSH_PKT]);
  const answered = (body: Uint8Array, ending: Ending = {}): Script => ({
    refs: { ...PUSHED, body: offer(OFFER) },
    "git-receive-pack": { ...REPORT, body, ...ending },
  });

  it.each<[string, RemoteFailureKind, RegExp, Script, Partial<RemoteLimits>?]>([
    ["can't report", "protocol", /report/, { refs: { ...PUSHED, body: offer("delete-refs") } }],
    [
      "can't unpack",
      "refused",
      /can't|refuses the pack: no space/,
      answered(report("unpack no space", "ng refs/heads/own x")),
    ],
    ["reports nothing", "protocol", /too early/, answered(joinBytes([FLUSH_PKT]))],
    ["reports half", "protocol", /inside of a packet/, answered(report("unpack ok").slice(0, 9))],
    ["reports nonsense", "protocol", /unpack/, answered(report("hello"))],
    [
      "reports an error",
      "refused",
      /the server says: no/,
      answered(joinBytes([formatBandError("no"), FLUSH_PKT])),
    ],
    ["hangs", "timeout", /./, answered(new Uint8Array(0), HANG), QUICK],
    [
      "reports without end",
      "too_large",
      /more than/,
      answered(NOTHING, without(formatFrames(BAND_DATA, new Uint8Array(60_000)))),
    ],
    [
      "advertises version 2",
      "protocol",
      /no pushes/,
      {
        refs: {
          ...PUSHED,
          body: joinBytes([
            formatServiceHeader("git-receive-pack"),
            formatCapabilityAdvertisement(new Map()),
          ]),
        },
      },
    ],
  ])("%s: %s", async (_name, kind, message, answers, limits = {}) => {
    const { repo } = await makeMirror();
    const own = makeCommit("own");
    await storePush(repo, "refs/heads/own", own.oid, own.pack);
    const remote = await makeScripted(answers);
    const failure = await failureOf(pushTo(repo, remote.url("scripted"), {}, { limits }));
    expect(failure).toMatchObject({ name: "RemoteFailure", kind });
    expect(failure.message).toMatch(message);
  });

  it("gives reasons without the credentials that it repeats, and forgets refs", async () => {
    const { repo } = await makeMirror();
    const own = makeCommit("own");
    await storePush(repo, "refs/heads/own", own.oid, own.pack);
    await storePush(repo, "refs/heads/two", own.oid, own.pack);
    const lines = ["unpack ok", "ng refs/heads/own you are me:hunter22, aren't you", "ok refs/x"];
    const remote = await makeScripted(answered(report(...lines)));
    const url = remote.url("scripted").replace("//", "//me:hunter22@");
    const { refused } = await pushTo(repo, url);
    expect(refused).toEqual([
      { kind: "refused", ref: "refs/heads/own", reason: "you are me:***, aren't you" },
      { kind: "refused", ref: "refs/heads/two", reason: "the remote does not report it" },
    ]);
  });
});
