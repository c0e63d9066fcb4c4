import { expect, it } from "vitest";
import { GitError } from "../../../src/git/error.ts";
import { checkGitattributes, checkGitmodules } from "../../../src/git/object/check-config-blob.ts";
import { checkObject } from "../../../src/git/object/check-object.ts";
import { parseCommit, splitSignature } from "../../../src/git/object/commit.ts";
import { parseTag } from "../../../src/git/object/tag.ts";
import { parseTree } from "../../../src/git/object/tree.ts";
import { applyDelta, readDeltaHeader } from "../../../src/git/pack/delta.ts";
import { IdxFile } from "../../../src/git/pack/idx-file.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import { formatIdx } from "../../../src/git/pack/idx-file.ts";
import { formatSidecar, parseSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { parseAdvertisement } from "../../../src/git/wire/advertisement.ts";
import { parseCommandRequest } from "../../../src/git/wire/command-request.ts";
import { parseFetchArgs, parseUploadRequest } from "../../../src/git/wire/fetch-request.ts";
import { parseFetchResponse } from "../../../src/git/wire/fetch-response.ts";
import { parseFilterSpec } from "../../../src/git/wire/filter-spec.ts";
import { parseLsRefsArgs, parseLsRefsResponse } from "../../../src/git/wire/ls-refs.ts";
import { parseReceiveReport } from "../../../src/git/wire/receive-report.ts";
import { parseReceiveRequest } from "../../../src/git/wire/receive-request.ts";
import { readFrame } from "../../../src/git/wire/side-band.ts";
import { codec } from "../support/codec.ts";
import { gitBytes, makeFixture } from "../support/git.ts";
import { index, makePack, scan } from "../support/packs.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { gitReader, storePack } from "../support/sidecars.ts";

const special = () => ({
  gitmodulesOids: new Set<string>(),
  gitattributesOids: new Set<string>(),
});

/** How long each target is fuzzed, in rounds: a second or so. */
const ROUNDS = 3000;

const repository = makeFixture("history");

/** Damages bytes as transport, disks and enemies do: flips, cuts, repeats, extreme values. */
function damage(random: Random, from: Uint8Array): Uint8Array {
  let bytes = from.slice();
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(bytes.length + 1);
    const to = at + random.below(Math.min(64, bytes.length - at) + 1);
    switch (random.below(5)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        bytes[at] = random.pick([0, 0x7f, 0x80, 0xff, 0x0a, 0x20, 0x30]);
        break;
      case 2:
        bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(to)]);
        break;
      case 3:
        bytes = Uint8Array.from([...bytes.subarray(0, to), ...bytes.subarray(at)]);
        break;
      default:
        bytes = bytes.slice(0, at);
    }
  }
  return bytes;
}

/** Runs `parse` on damaged copies of the seeds: it answers or refuses, and does nothing else. */
function fuzz(
  seeds: readonly Uint8Array[],
  parse: (bytes: Uint8Array, random: Random) => unknown,
): void {
  const random = makeRandom(1);
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = damage(random, random.pick(seeds));
    try {
      parse(bytes, random);
    } catch (error) {
      if (!(error instanceof GitError)) {
        throw new Error(`round ${round}: ${Buffer.from(bytes).toString("base64")}`, {
          cause: error,
        });
      }
      refused++;
    }
  }
  // Damage that is never noticed would mean that nothing was tested.
  expect(refused).toBeGreaterThan(0);
}

const read = (...args: string[]): Uint8Array => gitBytes(repository, args);
const text = (value: string): Uint8Array => Buffer.from(value, "latin1");
const A = "a".repeat(40);

it("objects", () => {
  expect.hasAssertions();
  fuzz(
    [read("cat-file", "tree", "main^{tree}"), read("cat-file", "tree", "main:docs")],
    (bytes) => {
      checkObject("tree", bytes, true, special());
      parseTree(bytes);
    },
  );
  fuzz([read("cat-file", "commit", "main"), read("cat-file", "commit", "left")], (bytes) => {
    checkObject("commit", bytes, true, special());
    splitSignature(bytes);
    parseCommit(bytes);
  });
  fuzz([read("cat-file", "tag", "v1")], (bytes) => {
    checkObject("tag", bytes, true, special());
    parseTag(bytes);
  });
});

it("configuration files", () => {
  expect.hasAssertions();
  const random = makeRandom(2);
  const seed = text(
    '[submodule "a"]\n\tpath = "a b" # c\n\turl = ../a%0a\n[core]\n\tbare\n\tx = \\"\\\\\n',
  );
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = damage(random, seed);
    expect(Array.isArray(checkGitmodules(bytes, true))).toBe(true);
    expect(Array.isArray(checkGitattributes(bytes, true))).toBe(true);
  }
});

it("messages", () => {
  expect.hasAssertions();
  const lines = (...all: string[]): Uint8Array =>
    text(
      all
        .map((line) =>
          line.length === 4 ? line : (line.length + 4).toString(16).padStart(4, "0") + line,
        )
        .join(""),
    );
  const parsers: [Uint8Array, (bytes: Uint8Array) => unknown][] = [
    [read("upload-pack", "--advertise-refs", "."), parseAdvertisement],
    [lines("command=ls-refs\n", "agent=git/2\n", "0001", "peel\n", "0000"), parseCommandRequest],
    [
      lines(`want ${A} ofs-delta\n`, "deepen 3\n", "0000", `have ${A}\n`, "done\n"),
      (bytes) => parseUploadRequest(bytes, true),
    ],
    [lines("acknowledgments\n", `ACK ${A}\n`, "ready\n", "0001", "packfile\n"), parseFetchResponse],
    [
      lines(`${A} HEAD symref-target:refs/heads/main\n`, `${A} refs/tags/v peeled:${A}\n`, "0000"),
      parseLsRefsResponse,
    ],
    [
      lines(`${A} ${A} refs/heads/main\0 report-status push-options`, "0000", "ci.skip", "0000"),
      parseReceiveRequest,
    ],
    [
      lines(
        "unpack ok\n",
        "ok refs/heads/main\n",
        `option new-oid ${A}\n`,
        "ng refs/heads/b no\n",
        "0000",
      ),
      parseReceiveReport,
    ],
    [lines("\x01data", "0000"), (bytes) => readFrame(bytes, 0)],
  ];
  for (const [seed, parse] of parsers) fuzz([seed], (bytes) => parse(bytes));
  fuzz(
    [text(`want ${A}\ndeepen-since 12\nfilter combine:blob:none+tree:3\nthin-pack`)],
    (bytes) => {
      const args = Buffer.from(bytes).toString("latin1").split("\n");
      parseFilterSpec(args.at(-1) ?? "");
      parseLsRefsArgs(args as never);
      parseFetchArgs(args as never);
    },
  );
});

it("deltas", () => {
  expect.hasAssertions();
  const base = makeRandom(3).bytes(300);
  const delta = Uint8Array.of(
    0xac,
    2,
    0xac,
    2,
    0x90,
    100,
    0x91,
    50,
    120,
    10,
    ...base.subarray(0, 10),
    0xb1,
    0,
    70,
    0,
  );
  fuzz([delta], (bytes) => {
    const header = readDeltaHeader(bytes);
    if (!header || header.resultBytes > 10_000) throw new GitError("limit", "not worth a buffer");
    applyDelta(base, bytes, header, new Uint8Array(header.resultBytes));
  });
});

// Limits are low here, so that a round which claims much is refused and not merely slow.
const limits = {
  ...DEFAULT_PACK_LIMITS,
  objectsMax: 100_000,
  objectBytesMax: 1 << 20,
  structureBytesMax: 1 << 20,
  deltaObjectBytesMax: 1 << 20,
};

/** Puts a right hash at the end, so that damage is found by what it is and not by the trailer. */
function sign(pack: Uint8Array): Uint8Array {
  const body = pack.slice(0, Math.max(0, pack.length - 20));
  const hash = codec.createSha1();
  hash.update(body);
  return Buffer.concat([body, hash.digest()]);
}

it("packs, in both passes", async () => {
  expect.hasAssertions();
  const seeds = [
    makePack(repository, ["main", "--not", "main~2"], ["--delta-base-offset"]),
    makePack(repository, ["main", "--not", "main~2"]),
    makePack(repository, ["side", "--not", "side~1"], ["--depth=0"]),
  ];
  fuzz(seeds, (bytes, random) => scan(sign(bytes), 1 + random.below(bytes.length + 1), limits));

  const random = makeRandom(4);
  for (let round = 0; round < 300; round++) {
    const bytes = sign(damage(random, random.pick(seeds)));
    await index(bytes, { limits }).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error;
    });
  }
});

it("indexes and sidecars", async () => {
  expect.hasAssertions();
  const stored = await storePack(makePack(repository, ["main"]), gitReader(repository));
  const { table, checksum } = await index(stored.pack);
  const idx = formatIdx(table, checksum, codec);
  fuzz([idx], (bytes) => {
    const file = new IdxFile(bytes);
    for (let position = 0; position < file.count; position += 10) {
      file.offset(position);
      file.find(bytes, position);
    }
  });
  fuzz([formatSidecar(stored.sidecar, codec)], (bytes) => parseSidecar(sign(bytes), codec));
});
