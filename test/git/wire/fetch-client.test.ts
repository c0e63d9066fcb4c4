import { describe, expect, it } from "vitest";

import { type ByteText, encodeUtf8, readByteText } from "../../../src/git/byte-text.ts";
import type { Oid } from "../../../src/git/oid.ts";
import { parseCapabilities } from "../../../src/git/wire/capabilities.ts";
import { readAcks, readFetchAnswer } from "../../../src/git/wire/fetch-reader.ts";
import { formatUploadRequest, parseUploadRequest } from "../../../src/git/wire/fetch-request.ts";
import { formatAcks, formatFetchResponse } from "../../../src/git/wire/fetch-response.ts";
import { Negotiation } from "../../../src/git/wire/negotiation.ts";
import { DELIMITER_PKT, FLUSH_PKT, formatLine, joinBytes } from "../../../src/git/wire/pkt-line.ts";
import { PktStream } from "../../../src/git/wire/pkt-stream.ts";
import { choosePushCapabilities, splitHaves } from "../../../src/git/wire/push-client.ts";
import {
  BAND_DATA,
  formatBandError,
  formatFrames,
  formatProgress,
} from "../../../src/git/wire/side-band.ts";
import { readSideBands } from "../../../src/git/wire/side-band-reader.ts";
import { gitBytes, makeFixture } from "../support/git.ts";

const oid = (number: number): Oid => number.toString(16).padStart(40, "0");
const [A, B] = [oid(10), oid(11)];

/** A message as a stream of pieces of `size` bytes. */
async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const packetsOf = (bytes: Uint8Array, size = 7): PktStream => new PktStream(inPieces(bytes, size));

/** Lines as packets, and markers. */
const pkts = (...lines: string[]): Uint8Array =>
  joinBytes(
    lines.map((line) =>
      line === "0000" ? FLUSH_PKT : line === "0001" ? DELIMITER_PKT : formatLine(line),
    ),
  );

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return joinBytes(all);
}

const protocol = expect.objectContaining({ code: "protocol" });

describe("PktStream", () => {
  it.each([1, 3, 1000])("reads packets and what follows in pieces of %d bytes", async (size) => {
    const packets = packetsOf(joinBytes([pkts("one", "0000", "0001"), encodeUtf8("rest")]), size);
    expect((await packets.next())?.kind).toBe("data");
    expect((await packets.next())?.kind).toBe("flush");
    expect((await packets.next())?.kind).toBe("delimiter");
    expect(await collect(packets.rest())).toEqual(encodeUtf8("rest"));
  });

  it("knows its end from an end inside of a packet", async () => {
    const packets = packetsOf(pkts("one"));
    await packets.next();
    expect(await packets.next()).toBeUndefined();
    await expect(packetsOf(pkts("one").slice(0, -1)).next()).rejects.toEqual(protocol);
    await expect(packetsOf(encodeUtf8("<htm")).next()).rejects.toMatchObject({ code: "corrupt" });
  });
});

describe("readSideBands", () => {
  const read = (bytes: Uint8Array, onProgress?: (text: ByteText) => void) =>
    collect(readSideBands(packetsOf(bytes), onProgress));

  it("yields the data, and reports progress", async () => {
    const reported: string[] = [];
    const bytes = joinBytes([
      formatProgress("counting\n"),
      formatFrames(BAND_DATA, encodeUtf8("PACK and "), 4),
      formatProgress("done\n"),
      formatFrames(BAND_DATA, encodeUtf8("more")),
      FLUSH_PKT,
    ]);
    expect(await read(bytes, (text) => reported.push(text))).toEqual(encodeUtf8("PACK and more"));
    expect(reported).toEqual(["counting\n", "done\n"]);
  });

  it("reports a bounded part of endless progress", async () => {
    let reported = 0;
    const frame = formatProgress("x".repeat(60_000));
    async function* pieces() {
      for (let count = 0; count < 100; count++) yield frame;
      yield FLUSH_PKT;
    }
    const packets = new PktStream(pieces());
    await collect(readSideBands(packets, (text) => (reported += text.length)));
    expect(reported).toBeGreaterThan(900_000);
    expect(reported).toBeLessThanOrEqual(1024 * 1024);
  });

  it("throws the server's error, in one readable line", async () => {
    const error = formatBandError("out of\u001b[31m\nmemory");
    await expect(read(error)).rejects.toMatchObject({
      name: "ServerRefusal",
      message: "the server says: out of [31m memory",
    });
  });

  it.each([
    ["no band", pkts("")],
    ["a packet without a band", joinBytes([encodeUtf8("0004")])],
    ["a delimiter", pkts("0001")],
    ["an unknown band", encodeUtf8("0006\u0009x")],
    ["no flush", formatFrames(BAND_DATA, encodeUtf8("x"))],
  ])("refuses %s", async (_name, bytes) => {
    await expect(read(bytes)).rejects.toEqual(protocol);
  });
});

describe("readFetchAnswer", () => {
  const read = (bytes: Uint8Array) => readFetchAnswer(packetsOf(bytes));

  it("reads acknowledgments, with and without a pack behind them", async () => {
    const commonOids = [A, B];
    const waiting = { acknowledgments: { commonOids, isReady: false }, hasPack: false };
    expect(await read(formatFetchResponse(waiting))).toEqual({
      commonOids,
      isReady: false,
      hasPack: false,
    });
    const ready = { acknowledgments: { commonOids, isReady: true }, hasPack: true };
    const packets = packetsOf(joinBytes([formatFetchResponse(ready), encodeUtf8("frames")]));
    expect(await readFetchAnswer(packets)).toEqual({ commonOids, isReady: true, hasPack: true });
    expect(await collect(packets.rest())).toEqual(encodeUtf8("frames"));
    expect(await read(formatFetchResponse({ hasPack: true }))).toMatchObject({ hasPack: true });
  });

  it.each([
    ["a boundary", pkts("shallow-info", `shallow ${A}`, "0001", "packfile")],
    ["wanted refs", pkts("wanted-refs", `${A} refs/heads/main`, "0001", "packfile")],
    ["packs elsewhere", pkts("packfile-uris", "x", "0001", "packfile")],
    ["an unknown line", pkts("acknowledgments", "MAYBE", "0000")],
    ["what is no id", pkts("acknowledgments", "ACK x", "0000")],
    ["an error", pkts("ERR no")],
    ["half an answer", pkts("acknowledgments", "NAK")],
  ])("refuses %s", async (_name, bytes) => {
    await expect(read(bytes)).rejects.toEqual(protocol);
  });
});

describe("readAcks", () => {
  const DETAILED = { isDetailed: true, isDone: false, endsReady: true };

  it("reads what servers write", async () => {
    const read = (bytes: Uint8Array, options = DETAILED) => readAcks(packetsOf(bytes), options);
    expect(await read(formatAcks("detailed", [A], false, false))).toEqual({
      commonOids: [A],
      isReady: false,
      hasPack: false,
    });
    expect(await read(formatAcks("detailed", [A, B], true, false, true))).toEqual({
      commonOids: [A, B],
      isReady: true,
      hasPack: true,
    });
    const noDone = { ...DETAILED, endsReady: false };
    expect(await read(formatAcks("detailed", [A], true, false), noDone)).toMatchObject({
      isReady: true,
      hasPack: false,
    });
    const done = { ...DETAILED, isDone: true };
    expect(await read(formatAcks("detailed", [A], false, true), done)).toMatchObject({
      commonOids: [A],
      hasPack: true,
    });
    expect(await read(formatAcks("detailed", [], false, true), done)).toMatchObject({
      hasPack: true,
    });
    const single = { isDetailed: false, isDone: true, endsReady: false };
    for (const common of [[], [A]]) {
      const bytes = joinBytes([formatAcks("single", common, false, true), encodeUtf8("PACK")]);
      const packets = packetsOf(bytes);
      expect(await readAcks(packets, single)).toMatchObject({ hasPack: true });
      expect(await collect(packets.rest())).toEqual(encodeUtf8("PACK"));
    }
  });

  it.each([
    ["a boundary", pkts(`shallow ${A}`, "0000", "NAK"), { ...DETAILED, isDone: true }],
    ["a pack too early", pkts(`ACK ${A}`), DETAILED],
    ["an unknown status", pkts(`ACK ${A} perhaps`), DETAILED],
    [
      "a status that was not requested",
      pkts(`ACK ${A} common`),
      { ...DETAILED, isDetailed: false },
    ],
    ["a flush", pkts("0000"), DETAILED],
    ["an error", pkts("ERR no"), DETAILED],
    ["no end", pkts(`ACK ${A} common`), { ...DETAILED, isDone: true }],
  ])("refuses %s", async (_name, bytes, options) => {
    await expect(readAcks(packetsOf(bytes), options)).rejects.toEqual(protocol);
  });
});

describe("Negotiation", () => {
  /** All rounds against a server that has some of the ids, and is never ready. */
  async function negotiate(count: number, isCommon: (number: number) => boolean) {
    const reported: Oid[] = [];
    const haves = Array.from({ length: count }, (_, at) => oid(at + 1));
    const negotiation = new Negotiation(haves, (each) => reported.push(each));
    const rounds: number[] = [];
    for (;;) {
      const { haveOids, isDone } = await negotiation.next();
      if (isDone) return { rounds, reported, last: haveOids };
      rounds.push(haveOids.length);
      const commonOids = haveOids.filter((each) => isCommon(Number.parseInt(each, 16)));
      negotiation.take({ commonOids, isReady: false });
    }
  }

  it("names haves in rounds that double, and then is done", async () => {
    const { rounds, reported, last } = await negotiate(100, () => false);
    expect(rounds).toEqual([16, 32, 52]);
    expect([reported, last]).toEqual([[], []]);
  });

  it("repeats what is common, and gives up once it is far below", async () => {
    const { rounds, reported, last } = await negotiate(100_000, (number) => number === 3);
    expect(reported).toEqual([oid(3)]);
    expect(last).toEqual([oid(3)]);
    expect(rounds).toEqual([16, 33, 65, 129, 257]);
  });

  it("is done at once without haves, and when the server is ready", async () => {
    expect(await new Negotiation([]).next()).toEqual({ haveOids: [], isDone: true });
    const negotiation = new Negotiation([A, B]);
    await negotiation.next();
    negotiation.take({ commonOids: [B], isReady: true });
    expect(await negotiation.next()).toEqual({ haveOids: [B], isDone: true });
  });

  it("ends with a server that has nothing of it, and counts no foreign acknowledgment", async () => {
    const { rounds } = await negotiate(1_000_000, () => false);
    expect(rounds.reduce((sum, size) => sum + size, 0)).toBe(60_000);
    const negotiation = new Negotiation([A]);
    await negotiation.next();
    negotiation.take({ commonOids: [B, B, A, A], isReady: false });
    expect(await negotiation.next()).toEqual({ haveOids: [A], isDone: true });
  });
});

describe("formatUploadRequest", () => {
  it("is what servers read", () => {
    const request = {
      wantOids: [A, B],
      haveOids: [oid(1), oid(2)],
      capabilities: parseCapabilities(["multi_ack_detailed", "thin-pack", "agent=x/1"]),
    };
    for (const isDone of [true, false]) {
      const read = parseUploadRequest(formatUploadRequest({ ...request, isDone }), true);
      expect(read?.value).toMatchObject({ ...request, isDone, isThin: true });
    }
  });

  it("makes git send a pack", async () => {
    const repository = makeFixture("history");
    const head = readByteText(gitBytes(repository, ["rev-parse", "main"])).trim();
    const capabilities = parseCapabilities(["side-band-64k", "ofs-delta"]);
    const input = formatUploadRequest({
      wantOids: [head],
      haveOids: [],
      isDone: true,
      capabilities,
    });
    const answer = gitBytes(repository, ["upload-pack", "--stateless-rpc", "."], { input });
    const packets = packetsOf(answer, 10_000);
    const acks = await readAcks(packets, { isDetailed: false, isDone: true, endsReady: false });
    expect(acks.hasPack).toBe(true);
    const pack = await collect(readSideBands(packets));
    expect(readByteText(pack, 0, 4)).toBe("PACK");
  });
});

describe("choosePushCapabilities", () => {
  const requested = { isAtomic: true, hasOptions: true, agent: "edgeforge/1" as ByteText };
  const choose = (words: string, more = requested) =>
    [...choosePushCapabilities(parseCapabilities(words.split(" ")), more)].map(([name, [value]]) =>
      value === "" ? name : `${name}=${value ?? ""}`,
    );

  it("requests the offered capabilities that are asked for", () => {
    const offered =
      "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=sha1 agent=git/2";
    expect(choose(offered)).toEqual([
      "report-status-v2",
      "side-band-64k",
      "quiet",
      "ofs-delta",
      "atomic",
      "push-options",
      "object-format=sha1",
      "agent=edgeforge/1",
    ]);
    expect(choose(offered, { ...requested, isAtomic: false, hasOptions: false })).not.toContain(
      "atomic",
    );
    expect(choose("report-status ofs-delta")).toEqual(["report-status", "ofs-delta"]);
  });

  it("refuses a server without a report", () => {
    expect(() => choose("delete-refs")).toThrow(expect.objectContaining({ code: "unsupported" }));
  });
});

it("splits the objects that a server borrows from its refs", () => {
  const refs = [
    { name: ".have" as ByteText, oid: A },
    { name: "refs/heads/main" as ByteText, oid: B },
  ];
  expect(splitHaves({ refs })).toEqual({ refs: [refs[1]], haveOids: [A] });
});
