import { describe, expect, it } from "vitest";
import { type ByteText, encodeUtf8, readByteText } from "../../../src/git/byte-text.ts";
import {
  formatErrorPkt,
  formatAdvertisement,
  parseAdvertisement,
  requestedVersion,
} from "../../../src/git/wire/advertisement.ts";
import { parseCapabilities } from "../../../src/git/wire/capabilities.ts";
import {
  formatCommandRequest,
  parseCommandRequest,
} from "../../../src/git/wire/command-request.ts";
import {
  formatFetchArgs,
  parseFetchArgs,
  parseUploadRequest,
} from "../../../src/git/wire/fetch-request.ts";
import {
  formatAcks,
  formatFetchResponse,
  formatShallowUpdate,
  parseFetchResponse,
} from "../../../src/git/wire/fetch-response.ts";
import { formatFilterSpec, parseFilterSpec } from "../../../src/git/wire/filter-spec.ts";
import {
  formatLsRefsResponse,
  parseLsRefsArgs,
  parseLsRefsResponse,
} from "../../../src/git/wire/ls-refs.ts";
import { formatObjectInfo, parseObjectInfoArgs } from "../../../src/git/wire/object-info.ts";
import {
  DELIMITER_PKT,
  FLUSH_PKT,
  formatLine,
  formatPkt,
  joinBytes,
} from "../../../src/git/wire/pkt-line.ts";
import { formatReceiveReport, parseReceiveReport } from "../../../src/git/wire/receive-report.ts";
import {
  formatReceiveRequest,
  parseReceiveRequest,
} from "../../../src/git/wire/receive-request.ts";
import {
  BAND_DATA,
  formatBandError,
  formatFrames,
  readFrame,
} from "../../../src/git/wire/side-band.ts";

import { makeRandom } from "../support/random.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const NULL = "0".repeat(40);
const text = (value: string): ByteText => readByteText(encodeUtf8(value));

/** Lines as packets, and markers: "0000" is a flush, "0001" a delimiter. */
function pkts(...lines: string[]): Uint8Array {
  return joinBytes(
    lines.map((line) =>
      line === "0000" ? FLUSH_PKT : line === "0001" ? DELIMITER_PKT : formatLine(line),
    ),
  );
}

const protocol = expect.objectContaining({ code: "protocol" });

/**
 * Expects a parser to return undefined for every truncation of a message, and a value for all of
 * it.
 */
function expectNeedsMore(message: Uint8Array, parse: (bytes: Uint8Array) => unknown): void {
  for (let length = 0; length < message.length; length++) {
    expect(parse(message.subarray(0, length))).toBeUndefined();
  }
  expect(parse(message)).toBeDefined();
}

describe("an advertisement", () => {
  const refs = [
    { name: text("HEAD"), oid: A, symrefTarget: text("refs/heads/main") },
    { name: text("refs/heads/main"), oid: A },
    { name: text("refs/tags/v1"), oid: B, peeledOid: A },
  ];
  const capabilities = parseCapabilities(["ofs-delta", "symref=HEAD:refs/heads/main", "agent=x"]);

  it("round-trips in versions 0 and 1", () => {
    for (const version of [0, 1] as const) {
      const bytes = formatAdvertisement(refs, capabilities, version);
      expect(parseAdvertisement(bytes)).toEqual({
        value: { version, capabilities, refs },
        next: bytes.length,
      });
      expectNeedsMore(bytes, parseAdvertisement);
    }
  });

  it("of an empty repository lists no ref", () => {
    const value = parseAdvertisement(formatAdvertisement([], capabilities))?.value;
    expect(value).toEqual({ version: 0, capabilities, refs: [] });
  });

  it.each([
    [undefined, 0],
    ["version=2", 2],
    ["version=1", 1],
    ["version=1:version=2", 2],
    ["version=3", 0],
    ["x:version=2:y", 2],
  ])("to a client that requests %j uses version %d", (header, version) => {
    expect(requestedVersion(header)).toBe(version);
  });
});

describe("a command request", () => {
  it("round-trips", () => {
    const request = {
      command: "ls-refs",
      capabilities: parseCapabilities(["command=ls-refs", "agent=git/2", "object-format=sha1"]),
      args: [text("peel"), text("ref-prefix HEAD")],
    };
    const bytes = formatCommandRequest(request);
    expect(parseCommandRequest(bytes)).toEqual({ value: request, next: bytes.length });
    expectNeedsMore(bytes, parseCommandRequest);
  });

  it.each([
    ["no command", ["agent=x", "0000"]],
    ["two commands", ["command=fetch", "command=ls-refs", "0000"]],
    ["two delimiters", ["command=fetch", "0001", "0001", "0000"]],
  ])("with %s is refused", (_, lines) => {
    expect(() => parseCommandRequest(pkts(...lines))).toThrow(protocol);
  });

  it("with another hash is refused as unsupported", () => {
    expect(() =>
      parseCommandRequest(pkts("command=fetch", "object-format=sha256", "0000")),
    ).toThrow(expect.objectContaining({ code: "unsupported" }));
  });
});

describe("ls-refs", () => {
  const refs = [
    { name: text("HEAD"), oid: A, symrefTarget: text("refs/heads/main") },
    { name: text("refs/heads/main"), oid: A },
    { name: text("refs/heads/next"), oid: B },
    { name: text("refs/tags/v1"), oid: B, peeledOid: A },
  ];

  it("sends the requested refs and attributes only", () => {
    const request = parseLsRefsArgs(
      ["peel", "symrefs", "ref-prefix HEAD", "ref-prefix refs/tags/"].map(text),
    );
    const bytes = formatLsRefsResponse(request, refs);
    expect(parseLsRefsResponse(bytes)?.value).toEqual({
      refs: [refs[0], refs[3]],
      unbornTarget: undefined,
    });
    expectNeedsMore(bytes, parseLsRefsResponse);

    const bare = formatLsRefsResponse(parseLsRefsArgs([]), refs);
    expect(parseLsRefsResponse(bare)?.value.refs).toEqual(
      refs.map(({ name, oid }) => ({ name, oid })),
    );
  });

  it("matches names against any number of prefixes, including prefixes of other prefixes", () => {
    const random = makeRandom(5);
    const word = (): string =>
      Array.from({ length: 1 + random.below(5) }, () => random.pick(["a", "b", "/", "\xff"])).join(
        "",
      );
    for (let round = 0; round < 200; round++) {
      const names = Array.from({ length: 20 }, word);
      const prefixes = Array.from({ length: 1 + random.below(8) }, word);
      const request = parseLsRefsArgs(prefixes.map((prefix) => `ref-prefix ${prefix}` as ByteText));
      const all = names.map((name) => ({ name: name as ByteText, oid: A }));
      const sent = parseLsRefsResponse(formatLsRefsResponse(request, all))?.value.refs;
      expect(sent?.map(({ name }) => name)).toEqual(
        names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))),
      );
    }
  });

  it("reports an unborn HEAD to clients that request it", () => {
    const target = text("refs/heads/main");
    const respond = (...args: string[]) =>
      parseLsRefsResponse(formatLsRefsResponse(parseLsRefsArgs(args.map(text)), [], target))?.value;
    expect(respond("unborn", "symrefs")?.unbornTarget).toBe(target);
    expect(respond("symrefs")?.unbornTarget).toBeUndefined();
    expect(respond("unborn", "symrefs", "ref-prefix refs/")?.unbornTarget).toBeUndefined();
  });

  it("refuses an argument that does not exist", () => {
    expect(() => parseLsRefsArgs([text("everything")])).toThrow(protocol);
  });
});

describe("a fetch request", () => {
  const args = [
    "thin-pack",
    "no-progress",
    "include-tag",
    "ofs-delta",
    "wait-for-done",
    "sideband-all",
    `shallow ${B}`,
    "deepen 3",
    "deepen-relative",
    "filter blob:limit=1024",
    "want-ref refs/heads/main",
    `want ${A}`,
    `have ${B}`,
    "done",
  ].map(text);

  it("of version 2 round-trips", () => {
    const request = parseFetchArgs(args);
    expect(request).toEqual({
      wantOids: [A],
      wantRefs: ["refs/heads/main"],
      haveOids: [B],
      shallowOids: [B],
      deepen: { depth: 3, isRelative: true, notRefs: [] },
      filter: { blobBytesLimit: 1024 },
      isDone: true,
      isThin: true,
      takesOfsDelta: true,
      includesTags: true,
      wantsProgress: false,
      waitsForDone: true,
      isSidebandAll: true,
    });
    expect(formatFetchArgs(request)).toEqual(args);
  });

  it("may limit history by time and by ref at once; packfile-uris is ignored", () => {
    const request = parseFetchArgs(
      ["deepen-since 17", "deepen-not refs/heads/a", "packfile-uris https"].map(text),
    );
    expect(request.deepen).toEqual({
      sinceSeconds: 17,
      notRefs: ["refs/heads/a"],
      isRelative: false,
    });
  });

  it.each([
    ["an unknown argument", ["sideways"]],
    ["a want that is not an object id", ["want main"]],
    ["a want in capitals", [`want ${"A".repeat(40)}`]],
    ["a want of another hash", [`want ${"a".repeat(64)}`]],
    ["a negative depth", ["deepen -1"]],
    ["a depth of letters", ["deepen x"]],
    ["a depth beyond git's", ["deepen 2147483648"]],
    ["a depth and a time", ["deepen 1", "deepen-since 1"]],
    ["a depth and a ref", ["deepen 1", "deepen-not main"]],
    ["an unknown filter", ["filter blob:some"]],
    ["a done with a value", ["done x"]],
  ])("of version 2 with %s is refused", (_, lines) => {
    expect(() => parseFetchArgs(lines.map(text))).toThrow(protocol);
  });

  it("of version 0 has its capabilities on the first line", () => {
    const body = pkts(
      `want ${A} thin-pack ofs-delta agent=git/2 multi_ack_detailed`,
      `want ${B}`,
      "deepen 1",
      "0000",
      `have ${B}`,
      "0000",
      "done",
    );
    const request = parseUploadRequest(body, true);
    expect(request?.value).toMatchObject({
      wantOids: [A, B],
      haveOids: [B],
      deepen: { depth: 1 },
      isThin: true,
      takesOfsDelta: true,
      isDone: true,
    });
    expectNeedsMore(body, (bytes) => parseUploadRequest(bytes, false));
  });

  // A shallow client ends its request after the wants to receive the new boundary first.
  it("of version 0 may end after its wants", () => {
    const body = pkts(`want ${A} shallow`, "deepen 1", "0000");
    expect(parseUploadRequest(body, true)?.value).toMatchObject({
      haveOids: [],
      hasRound: false,
      isDone: false,
    });
    const round = pkts(`want ${A} shallow`, "deepen 1", "0000", "0000");
    expect(parseUploadRequest(round, true)?.value).toMatchObject({ haveOids: [], hasRound: true });
    expect(parseUploadRequest(body, false)).toBeUndefined();
  });

  it.each([
    ["haves before wants", [`have ${A}`, "0000"]],
    ["haves among the wants", [`want ${A} x`, `have ${A}`, "0000"]],
    ["done among the wants", [`want ${A} x`, "done", "0000"]],
    ["wants among the haves", [`want ${A} x`, "0000", `want ${A}`, "done"]],
    ["a delimiter", [`want ${A} x`, "0001"]],
  ])("of version 0 with %s is refused", (_, lines) => {
    expect(() => parseUploadRequest(pkts(...lines), true)).toThrow(protocol);
  });
});

describe("filters", () => {
  it.each([
    ["blob:none", { blobBytesLimit: 0 }],
    ["blob:limit=10", { blobBytesLimit: 10 }],
    ["blob:limit=2k", { blobBytesLimit: 2048 }],
    ["blob:limit=1M", { blobBytesLimit: 1048576 }],
    ["tree:0", { treeDepthLimit: 0 }],
    ["combine:blob:none+tree:3", { blobBytesLimit: 0, treeDepthLimit: 3 }],
    ["combine:blob%3Alimit=5+blob:limit=9", { blobBytesLimit: 5 }],
  ])("parse from %j and round-trip", (spec, filter) => {
    expect(parseFilterSpec(spec)).toEqual(filter);
    expect(parseFilterSpec(formatFilterSpec(filter))).toEqual(filter);
  });

  it.each(["sparse:oid=main:x", "object:type=blob"])("of kind %j are unsupported", (spec) => {
    expect(() => parseFilterSpec(spec)).toThrow(expect.objectContaining({ code: "unsupported" }));
  });
});

describe("a fetch response", () => {
  it("during negotiation ends with a flush", () => {
    const response = { acknowledgments: { commonOids: [A], isReady: false }, hasPack: false };
    const bytes = formatFetchResponse(response);
    expect(parseFetchResponse(bytes)).toEqual({ value: response, next: bytes.length });
    expect(readByteText(bytes)).toBe(`0014acknowledgments\n0031ACK ${A}\n0000`);
    expectNeedsMore(bytes, parseFetchResponse);
  });

  it("with a pack round-trips its sections up to the pack", () => {
    const response = {
      acknowledgments: { commonOids: [A], isReady: true },
      shallow: { shallowOids: [A], unshallowOids: [B] },
      wantedRefs: [{ oid: A, name: text("refs/heads/main") }],
      hasPack: true,
    };
    const bytes = formatFetchResponse(response);
    expect(parseFetchResponse(bytes)).toEqual({ value: response, next: bytes.length });
  });

  it("reports the server's error message", () => {
    expect(() => parseFetchResponse(pkts("ERR not our ref"))).toThrow("not our ref");
  });

  it.each([
    ["single", false, ["NAK"], [`ACK ${A}`]],
    ["multi", false, ["NAK"], [`ACK ${A} continue`, `ACK ${B} continue`, "NAK"]],
    ["detailed", false, ["NAK"], [`ACK ${A} common`, `ACK ${B} common`, `ACK ${B} ready`, "NAK"]],
    [
      "detailed",
      true,
      ["NAK"],
      [`ACK ${A} common`, `ACK ${B} common`, `ACK ${B} ready`, `ACK ${B}`],
    ],
  ] as const)("acknowledges haves in mode %s (done: %s)", (mode, isDone, none, some) => {
    expect(formatAcks(mode, [], false, isDone)).toEqual(pkts(...none));
    expect(formatAcks(mode, [A, B], true, isDone)).toEqual(pkts(...some));
  });
});

// libgit2 refuses a line of a boundary that ends in a line feed.
describe("lines that git sends without a line feed", () => {
  const update = { shallowOids: [A], unshallowOids: [B] };

  it.each([
    ["a boundary of versions 0 and 1", formatShallowUpdate(update)],
    ["a boundary of version 2", formatFetchResponse({ shallow: update, hasPack: true })],
  ])("are those of %s", (_, bytes) => {
    const lines = `0034shallow ${A}0036unshallow ${B}`;
    expect(Buffer.from(bytes).toString()).toContain(lines);
  });

  it("are those of errors", () => {
    expect(Buffer.from(formatErrorPkt("no")).toString()).toBe("000aERR no");
    expect(Buffer.from(formatBandError("no")).toString()).toBe("0007\x03no");
  });
});

describe("the longest request", () => {
  const lines = (count: number, line: string): ByteText[] =>
    Array.from({ length: count }, () => text(line));

  it.each([
    [
      "wants",
      300_000,
      (count: number) => parseFetchArgs(lines(count, `want ${A}`)).wantOids.length,
    ],
    [
      "haves",
      300_000,
      (count: number) => parseFetchArgs(lines(count, `have ${A}`)).haveOids.length,
    ],
    [
      "shallow commits",
      300_000,
      (count: number) => parseFetchArgs(lines(count, `shallow ${A}`)).shallowOids.length,
    ],
    ["ids", 100_000, (count: number) => parseObjectInfoArgs(lines(count, `oid ${A}`)).oids.length],
  ])("is read, and one more line refused: %s", (_, max, read) => {
    expect(read(max)).toBe(max);
    expect(() => read(max + 1)).toThrow(expect.objectContaining({ code: "limit" }));
  });
});

describe("object-info", () => {
  it("sends the sizes of objects, and an empty size for a missing object", () => {
    const request = parseObjectInfoArgs(["size", `oid ${A}`, `oid ${B}`].map(text));
    expect(Buffer.from(formatObjectInfo(request, new Map([[A, 12]]))).toString()).toBe(
      `0008size002f${A} 12002d${B} 0000`,
    );
  });

  it("refuses arguments that do not exist", () => {
    expect(() => parseObjectInfoArgs([text("type")])).toThrow(protocol);
  });
});

describe("a receive request", () => {
  const request = {
    commands: [
      { oldOid: NULL, newOid: A, ref: text("refs/heads/main") },
      { oldOid: A, newOid: B, ref: text("refs/heads/grüße") },
    ],
    shallowOids: [B],
    capabilities: parseCapabilities([
      "report-status-v2",
      "side-band-64k",
      "push-options",
      "atomic",
    ]),
    pushOptions: [text("ci.skip")],
  };

  it("round-trips, and the pack starts after it", () => {
    const bytes = formatReceiveRequest(request);
    expect(parseReceiveRequest(joinBytes([bytes, encodeUtf8("PACK")]))).toEqual({
      value: { ...request, hasPack: true },
      next: bytes.length,
    });
    expectNeedsMore(bytes, parseReceiveRequest);
  });

  it("with deletions only has no pack", () => {
    const bytes = pkts(`${A} ${NULL} refs/heads/main\0 report-status`, "0000");
    expect(parseReceiveRequest(bytes)?.value.hasPack).toBe(false);
  });

  const caps = "\0 report-status";
  it.each([
    ["no new id", [`${A} refs/heads/main${caps}`, "0000"]],
    ["a short id", [`${A.slice(1)} ${B} refs/heads/main${caps}`, "0000"]],
    ["an id in capitals", [`${A.toUpperCase()} ${B} refs/heads/main${caps}`, "0000"]],
    ["two null ids", [`${NULL} ${NULL} refs/heads/main${caps}`, "0000"]],
    ["a ref named twice", [`${A} ${B} refs/heads/a${caps}`, `${A} ${B} refs/heads/a`, "0000"]],
    [
      "capabilities after the first command",
      [`${A} ${B} refs/heads/a`, `${A} ${B} refs/heads/b${caps}`, "0000"],
    ],
    ["a delimiter", [`${A} ${B} refs/heads/a${caps}`, "0001"]],
  ])("with %s is refused", (_, lines) => {
    expect(() => parseReceiveRequest(pkts(...lines))).toThrow(protocol);
  });

  it("over its limits is refused before it is complete", () => {
    const limits = { commandsMax: 1, pushOptionsMax: 1 };
    const lines = [`${A} ${B} refs/heads/a${caps}`, `${A} ${B} refs/heads/b`];
    expect(() => parseReceiveRequest(pkts(...lines), 0, limits)).toThrow(
      expect.objectContaining({ code: "limit" }),
    );
  });

  it("with a push certificate is refused as unsupported", () => {
    expect(() => parseReceiveRequest(pkts("push-cert\0x", "0000"))).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });
});

describe("a receive report", () => {
  it("round-trips", () => {
    const report = {
      unpackError: undefined,
      results: [
        {
          kind: "ok",
          ref: text("refs/heads/a"),
          rewritten: { ref: text("refs/x"), oldOid: A, newOid: B, isForced: true },
        },
        { kind: "refused", ref: text("refs/heads/b"), reason: "protected branch" },
      ],
    } as const;
    expect(parseReceiveReport(formatReceiveReport(report, true))?.value).toEqual(report);
    expectNeedsMore(formatReceiveReport(report, true), parseReceiveReport);
  });

  it("puts a multi-line reason on one line", () => {
    const report = { unpackError: "bad\npack", results: [] };
    expect(formatReceiveReport(report, false)).toEqual(pkts("unpack bad pack", "0000"));
  });
});

describe("side-bands", () => {
  it("split any number of bytes into frames of up to 64 KB", () => {
    const payload = new Uint8Array(200_000).map((_, at) => at);
    const bytes = joinBytes([formatFrames(BAND_DATA, payload), FLUSH_PKT]);
    const pieces: Uint8Array[] = [];
    for (let at = 0; ;) {
      const read = readFrame(bytes, at);
      if (!read || read.frame.kind === "flush") break;
      pieces.push(read.frame.payload);
      at = read.next;
    }
    expect(pieces.map((piece) => piece.length)).toEqual([65515, 65515, 65515, 3455]);
    expect(joinBytes(pieces)).toEqual(payload);
  });

  it.each(["0005\x04", "0004", "0001"])("refuse the packet %j", (packet) => {
    expect(() => readFrame(encodeUtf8(packet), 0)).toThrow(protocol);
  });

  it("report the server's error message", () => {
    expect(() => readFrame(formatPkt(text("\x03out of disk")), 0)).toThrow("out of disk");
  });
});
