import { deflateSync, inflateSync } from "node:zlib";
import { runNow } from "../../../src/git/budget.ts";
import type { ByteText } from "../../../src/git/byte-text.ts";
import { GitError } from "../../../src/git/error.ts";
import { checkGitattributes, checkGitmodules } from "../../../src/git/object/check-config-blob.ts";
import { checkObject } from "../../../src/git/object/check-object.ts";
import {
  type Commit,
  formatCommit,
  parseCommit,
  splitSignature,
} from "../../../src/git/object/commit.ts";
import { formatDate } from "../../../src/git/object/format-date.ts";
import type { ObjectKind } from "../../../src/git/object/kind.ts";
import { KIND_CODES } from "../../../src/git/object/kind.ts";
import { parseTag, splitTagSignature } from "../../../src/git/object/tag.ts";
import { parseTree } from "../../../src/git/object/tree.ts";
import { applyDelta, readDeltaHeader } from "../../../src/git/pack/delta.ts";
import { DeltaEncoder } from "../../../src/git/pack/delta-encoder.ts";
import { resolveDeltas } from "../../../src/git/pack/delta-resolver.ts";
import {
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  REF_DELTA,
} from "../../../src/git/pack/entry-header.ts";
import { formatIdx, IdxFile } from "../../../src/git/pack/idx-file.ts";
import { DEFAULT_PACK_LIMITS } from "../../../src/git/pack/limits.ts";
import type { PackKernel } from "../../../src/git/pack/pack-kernel.ts";
import { formatPackHeader, PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import { ThinPackCompletion } from "../../../src/git/pack/thin-pack.ts";
import { isRefName } from "../../../src/git/ref-name.ts";
import { makeSidecar } from "../../../src/git/sidecar/make-sidecar.ts";
import { PackInspector } from "../../../src/git/sidecar/pack-inspector.ts";
import { formatSidecar, parseSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { parseAdvertisement } from "../../../src/git/wire/advertisement.ts";
import { parseCommandRequest } from "../../../src/git/wire/command-request.ts";
import { parseFetchArgs, parseUploadRequest } from "../../../src/git/wire/fetch-request.ts";
import { parseFetchResponse } from "../../../src/git/wire/fetch-response.ts";
import { parseFilterSpec } from "../../../src/git/wire/filter-spec.ts";
import { parseLsRefsArgs, parseLsRefsResponse } from "../../../src/git/wire/ls-refs.ts";
import { parseObjectInfoArgs } from "../../../src/git/wire/object-info.ts";
import { joinBytes } from "../../../src/git/wire/pkt-line.ts";
import { parseReceiveReport } from "../../../src/git/wire/receive-report.ts";
import { parseReceiveRequest } from "../../../src/git/wire/receive-request.ts";
import { readFrame } from "../../../src/git/wire/side-band.ts";
import { Inflater } from "../../../src/git/zlib/inflate.ts";
import { codec } from "../support/codec.ts";
import { git, gitBytes, makeFixture } from "../support/git.ts";
import { openKernel } from "../support/kernel.ts";
import { outsideOf } from "../support/outside.ts";
import { index, makePack, readByGit, scan } from "../support/packs.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { LENIENT_SEVERITIES, STRICT_SEVERITIES } from "../support/severities.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { makeReader, MemoryScratch, MemorySource } from "../support/sources.ts";
import { damage, damageLines, pktLines } from "./damage.ts";

/** A parser and a source of damaged inputs for it. */
export interface Target {
  readonly name: string;
  /** Duration of a round relative to other targets; 1 by default. */
  readonly weight?: number;
  makeInput(random: Random): Uint8Array;
  /** Returns or throws a GitError. Any other error is a finding, and so is a hang. */
  run(input: Uint8Array): unknown;
}

const packKernel = openKernel();

// Low limits, so that an input which claims large sizes is refused instead of making the round
// slow.
const limits = {
  ...DEFAULT_PACK_LIMITS,
  objectsMax: 100_000,
  objectBytesMax: 1 << 20,
  structureBytesMax: 1 << 20,
  deltaObjectBytesMax: 1 << 20,
  deltaBytesMax: 1 << 20,
};

const A = "a".repeat(40);
const B = "b".repeat(40);

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const linesOf = (bytes: Uint8Array) => textOf(bytes).split("\n") as ByteText[];

/** Every parser of data sent by clients, and the parsers of the files that the service stores. */
export async function makeTargets(): Promise<Target[]> {
  const repository = makeFixture("history");
  return [
    ...objectTargets(repository),
    ...messageTargets(repository),
    ...argumentTargets(),
    ...compressionTargets(),
    ...packTargets(repository),
    ...(await fileTargets(repository)),
  ];
}

const SIGNED_COMMIT = [
  `tree ${A}\nparent ${B}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000`,
  "gpgsig-sha256 x\n y\ngpgsig -----BEGIN\n \n abc\n -----END\nencoding x\n z\n\nmessage\n\n m\n",
].join("\n");

const ODD_COMMIT = [
  `tree ${A}\nparent ${B}\nauthor A<<a@b>> -18446744073709551616 +051800\nauthor <> 0012 -9999`,
  "committer >\nmergetag x\n\nmess\0age\n",
].join("\n");

/** Checks that the commit as displayed equals the commit as signed. */
function requireSame(shown: Commit, signed: Commit): void {
  const describeContent = ({ headers, ...rest }: Commit): string => {
    const others = headers.filter(({ name }) => !name.startsWith("gpgsig"));
    return JSON.stringify([rest, others]);
  };
  if (describeContent(shown) !== describeContent(signed))
    throw new Error("what is shown is not what is signed");
}

const damaged = (seeds: readonly Uint8Array[]) => (random: Random) =>
  damage(random, random.pick(seeds));

function objectTargets(repository: string): Target[] {
  const read = (kind: ObjectKind, ...names: string[]): Uint8Array[] =>
    names.map((name) => Uint8Array.from(gitBytes(repository, ["cat-file", kind, name])));
  const check = (kind: ObjectKind, bytes: Uint8Array): boolean => {
    const special = { gitmodulesOids: new Set<string>(), gitattributesOids: new Set<string>() };
    runNow(checkObject(kind, bytes, STRICT_SEVERITIES, special));
    const findings = runNow(checkObject(kind, bytes, LENIENT_SEVERITIES, special));
    return findings.every(({ severity }) => severity !== "error");
  };
  /** @param isReadable Whether the checks can accept the object, with the most lenient settings. */
  const mustParse = <T>(isReadable: boolean, parse: () => T): T => {
    try {
      return parse();
    } catch (error) {
      if (isReadable) throw new Error("passes the checks and can't be read", { cause: error });
      throw error;
    }
  };
  const config = bytesOf(
    '[submodule "a"]\n\tpath = "a b" # c\n\turl = ../a%0a\n[core]\n\tbare\n\tx = \\"\\\\\n',
  );
  return [
    {
      name: "tree",
      makeInput: damaged(read("tree", "main^{tree}", "main:docs")),
      run: (bytes) => {
        mustParse(check("tree", bytes), () => parseTree(bytes));
      },
    },
    {
      name: "commit",
      makeInput: damaged([
        ...read("commit", "main", "left"),
        ...[SIGNED_COMMIT, ODD_COMMIT].map(bytesOf),
      ]),
      run: (bytes) => {
        const isReadable = check("commit", bytes);
        const split = splitSignature(bytes);
        const commit = mustParse(isReadable, () => parseCommit(bytes));
        formatCommit(commit);
        formatDate(commit.author, "iso-strict");
        if (split) requireSame(commit, parseCommit(split.signed));
      },
    },
    {
      name: "tag",
      makeInput: damaged(read("tag", "v1", "nested")),
      run: (bytes) => {
        const isReadable = check("tag", bytes);
        splitTagSignature(bytes);
        mustParse(isReadable, () => parseTag(bytes));
      },
    },
    {
      name: "configuration file",
      makeInput: damaged([config]),
      run: (bytes) => {
        const findings = [
          ...checkGitmodules(bytes, STRICT_SEVERITIES),
          ...checkGitattributes(bytes, STRICT_SEVERITIES),
        ];
        if (findings.length > 0) throw new GitError("corrupt", "found guilty");
      },
    },
    {
      name: "ref name",
      makeInput: damaged([bytesOf("refs/heads/a.b/c@d{e"), bytesOf("refs/tags/v1.lock")]),
      run: (bytes) => {
        if (!isRefName(textOf(bytes))) throw new GitError("protocol", "no ref");
      },
    },
  ];
}

function messageTargets(repository: string): Target[] {
  const message = (
    name: string,
    parse: (bytes: Uint8Array) => unknown,
    ...lines: string[]
  ): Target => {
    const whole = pktLines(...lines);
    return {
      name,
      makeInput: (random) =>
        random.below(2) === 0 ? damage(random, whole) : damageLines(random, lines),
      run: parse,
    };
  };
  const advertised = gitBytes(repository, ["upload-pack", "--advertise-refs", "."]);
  return [
    {
      name: "advertisement",
      makeInput: damaged([Uint8Array.from(advertised)]),
      run: (bytes) => parseAdvertisement(bytes),
    },
    message(
      "advertisement of version 2",
      (bytes) => parseAdvertisement(bytes),
      "# service=git-upload-pack\n",
      "0000",
      "version 2\n",
      "agent=git/2\n",
      "fetch=shallow filter\n",
      "0000",
    ),
    message(
      "command request",
      (bytes) => parseCommandRequest(bytes),
      "command=ls-refs\n",
      "agent=git/2\n",
      "object-format=sha1\n",
      "0001",
      "peel\n",
      "ref-prefix refs/heads/\n",
      "0000",
    ),
    message(
      "command request of a fetch",
      (bytes) => parseFetchArgs(parseCommandRequest(bytes)?.value.args ?? []),
      "command=fetch\n",
      "0001",
      "thin-pack\n",
      "filter blob:none\n",
      "deepen 3\n",
      `want ${A}\n`,
      `have ${B}\n`,
      "done\n",
      "0000",
    ),
    message(
      "upload request",
      (bytes) => {
        parseUploadRequest(bytes, false);
        parseUploadRequest(bytes, true);
      },
      `want ${A} ofs-delta multi_ack_detailed deepen-relative\n`,
      `want ${B}\n`,
      `shallow ${B}\n`,
      "deepen 3\n",
      "filter tree:1\n",
      "0000",
      `have ${A}\n`,
      "0000",
      `have ${B}\n`,
      "done\n",
    ),
    message(
      "fetch response",
      (bytes) => parseFetchResponse(bytes),
      "acknowledgments\n",
      `ACK ${A}\n`,
      "ready\n",
      "0001",
      "shallow-info\n",
      `shallow ${B}\n`,
      "0001",
      "packfile\n",
    ),
    message(
      "ls-refs response",
      (bytes) => parseLsRefsResponse(bytes),
      `${A} HEAD symref-target:refs/heads/main\n`,
      `${A} refs/tags/v peeled:${A}\n`,
      "unborn HEAD symref-target:refs/heads/x\n",
      "0000",
    ),
    message(
      "receive request",
      (bytes) => parseReceiveRequest(bytes),
      `shallow ${B}`,
      `${A} ${B} refs/heads/main\0 report-status push-options object-format=sha1`,
      `${B} ${A} refs/heads/other`,
      `${A} ${"0".repeat(40)} refs/tags/gone\n`,
      "0000",
      "ci.skip",
      "0000",
    ),
    message(
      "receive report",
      (bytes) => parseReceiveReport(bytes),
      "unpack ok\n",
      "ok refs/heads/main\n",
      `option new-oid ${A}\n`,
      "option forced-update\n",
      "ng refs/heads/b no\n",
      "0000",
    ),
    message(
      "side-band",
      (bytes) => {
        for (let at = 0; ;) {
          const read = readFrame(bytes, at);
          if (!read) return;
          at = read.next;
        }
      },
      "\x01data",
      "\x02words\n",
      "\x01more data",
      "0000",
    ),
  ];
}

function argumentTargets(): Target[] {
  return [
    {
      name: "fetch arguments",
      makeInput: damaged([
        bytesOf(`want ${A}\nhave ${B}\nshallow ${A}\ndeepen 5\ndeepen-relative\nthin-pack\ndone`),
        bytesOf(`want-ref refs/heads/main\ndeepen-since 12\ndeepen-not v1\nfilter tree:0`),
      ]),
      run: (bytes) => parseFetchArgs(linesOf(bytes)),
    },
    {
      name: "ls-refs arguments",
      makeInput: damaged([bytesOf("peel\nsymrefs\nunborn\nref-prefix refs/heads/\nref-prefix H")]),
      run: (bytes) => parseLsRefsArgs(linesOf(bytes)),
    },
    {
      name: "object-info arguments",
      makeInput: damaged([bytesOf(`size\noid ${A}\noid ${B}`)]),
      run: (bytes) => parseObjectInfoArgs(linesOf(bytes)),
    },
    {
      name: "filter",
      makeInput: damaged([
        bytesOf("combine:blob:none+tree:3"),
        bytesOf("combine:blob%3alimit=10k+combine:tree:1"),
        bytesOf("blob:limit=1g"),
        bytesOf("tree:2147483647"),
      ]),
      run: (bytes) => parseFilterSpec(textOf(bytes)),
    },
  ];
}

function compressionTargets(): Target[] {
  const noise = makeRandom(3);
  const base = noise.bytes(300);
  const deltas = [
    Uint8Array.of(0xac, 2, 0xac, 2, 0x90, 100, 0x91, 50, 120, 10, ...base.subarray(0, 10), 0xb1),
    Uint8Array.of(0xac, 2, 100, 0xb0, 100, 0),
    Uint8Array.of(0xac, 2, 5, 5, 1, 2, 3, 4, 5),
  ];
  const text = bytesOf("the quick brown fox jumps over the lazy dog\n".repeat(40));
  const streams = [0, 1, 6, 9].flatMap((level) => [
    Uint8Array.from(deflateSync(text, { level })),
    Uint8Array.from(deflateSync(noise.bytes(500), { level })),
  ]);
  return [
    {
      name: "delta",
      makeInput: damaged(deltas),
      run: (bytes) => {
        const header = readDeltaHeader(bytes);
        if (!header || header.resultBytes > 10_000) throw new GitError("limit", "too large");
        applyDelta(base, bytes, header, new Uint8Array(header.resultBytes));
      },
    },
    {
      name: "delta round trip",
      makeInput: damaged([text]),
      run: (bytes) => {
        const delta = new DeltaEncoder(text).encode(bytes, 1 << 20);
        const header = delta && readDeltaHeader(delta);
        if (!delta || !header) throw new Error("no delta");
        const result = new Uint8Array(header.resultBytes);
        applyDelta(text, delta, header, result);
        if (textOf(result) !== textOf(bytes)) throw new Error("the delta makes something else");
        throw new GitError("limit", "nothing to refuse");
      },
    },
    {
      name: "deflate stream",
      makeInput: damaged(streams),
      run: (bytes) => {
        const ours = inflate(bytes);
        const theirs = inflateByZlib(bytes);
        if (ours !== theirs) throw new Error("zlib reads it otherwise");
        inflateByKernel(bytes);
        if (ours === undefined) throw new GitError("corrupt", "no stream");
      },
    },
  ];
}

/** Inflates a stream in pieces of random length; undefined for an invalid stream. */
function inflate(bytes: Uint8Array): string | undefined {
  const random = makeRandom(bytes.length);
  const inflater = new Inflater();
  const output = new Uint8Array(1 << 17);
  let [at, end, to] = [0, 0, 0];
  try {
    for (;;) {
      const until = Math.min(output.length, to + 1 + random.below(3000));
      const status = inflater.run(bytes, at, end, output, to, until);
      [at, to] = [inflater.inputOffset, inflater.outputOffset];
      if (status === "done") return textOf(output.subarray(0, to));
      if (status === "output-full" && to === output.length) return undefined;
      if (status === "need-input" && end === bytes.length) return undefined;
      if (status === "need-input") end = Math.min(bytes.length, end + 1 + random.below(300));
    }
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

/**
 * The kernel may leave any stream to the engine, but a stream that it takes must be read in the
 * same way.
 */
function inflateByKernel(bytes: Uint8Array): void {
  const inflater = new Inflater();
  const output = new Uint8Array(1 << 17);
  let status = "";
  try {
    status = inflater.run(bytes, 0, bytes.length, output, 0, output.length);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
  const { inputOffset, outputOffset } = inflater;
  for (const sizeBytes of [outputOffset, outputOffset + 1, Math.max(0, outputOffset - 1)]) {
    const taken = packKernel.inflate(bytes, 0, inputOffset, sizeBytes);
    if (!taken) {
      if (status !== "done" || sizeBytes !== outputOffset) continue;
      throw new Error("the kernel does not take a stream of zlib");
    }
    if (status !== "done" || textOf(taken) !== textOf(output.subarray(0, outputOffset))) {
      throw new Error("the kernel reads it otherwise");
    }
  }
}

function inflateByZlib(bytes: Uint8Array): string | undefined {
  try {
    return textOf(inflateSync(bytes, { maxOutputLength: (1 << 17) - 1 }));
  } catch {
    return undefined;
  }
}

/**
 * Replaces the trailer by the right hash, so that the parser finds the damage itself, not a wrong
 * hash.
 */
function sign(pack: Uint8Array): Uint8Array {
  return trailed(pack.slice(0, Math.max(0, pack.length - 20)));
}

function trailed(body: Uint8Array): Uint8Array {
  const hash = codec.createSha1();
  hash.update(body);
  return joinBytes([body, hash.digest()]);
}

function packTargets(repository: string): Target[] {
  const seeds = [
    makePack(repository, ["main", "--not", "main~2"], ["--delta-base-offset"]),
    makePack(repository, ["main", "--not", "main~2"]),
    makePack(repository, ["side", "--not", "side~1"], ["--depth=0"]),
    makePack(repository, ["nested", "--not", "v1~1"], ["--thin"]),
  ].map((pack) => Uint8Array.from(pack));
  const objects = listObjects(repository);
  return [
    {
      name: "pack, first pass",
      makeInput: (random) => sign(damage(random, random.pick(seeds))),
      run: (bytes) => scan(bytes, 1 + makeRandom(bytes.length).below(bytes.length + 1), limits),
    },
    {
      name: "pushed pack",
      weight: 4,
      makeInput: (random) => sign(damage(random, random.pick(seeds))),
      run: (bytes) => receive(bytes, objects),
    },
    {
      name: "pushed pack of damaged objects",
      weight: 4,
      makeInput: (random) => makeWildPack(random, objects),
      run: (bytes) => receive(bytes, objects),
    },
  ];
}

interface KnownObject {
  readonly oid: string;
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
}

/** Every object of the repository under 2000 bytes. */
function listObjects(repository: string): KnownObject[] {
  return git(repository, ["cat-file", "--batch-all-objects", "--batch-check"])
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , size]) => Number(size) < 2000)
    .map(([oid = ""]) => {
      const { kind, content } = readByGit(repository, oid);
      return { oid, kind, content };
    });
}

/** A pack with well-formed entries, whose objects, bases and deltas may be damaged. */
function makeWildPack(random: Random, objects: readonly KnownObject[]): Uint8Array {
  const count = 1 + random.below(8);
  const pieces = [formatPackHeader(count)];
  const offsets: number[] = [];
  const contents: Uint8Array[] = [];
  let offset = pieces[0]?.length ?? 0;
  const maybeDamaged = (bytes: Uint8Array): Uint8Array =>
    random.below(4) === 0 ? damage(random, bytes) : bytes;
  for (let entry = 0; entry < count; entry++) {
    const object = random.pick(objects);
    const content = maybeDamaged(object.content);
    offsets.push(offset);
    contents.push(content);
    const parts: Uint8Array[] = [];
    const type = random.below(5);
    if (type < 2 || entry === 0) {
      parts.push(formatEntryHeader(KIND_CODES[object.kind], content.length), deflateSync(content));
    } else {
      const other = random.pick(objects);
      const base = random.below(entry);
      const baseContent = type === 2 ? other.content : (contents[base] ?? content);
      const encoded = new DeltaEncoder(baseContent).encode(content, 1 << 20) ?? content;
      const delta = maybeDamaged(encoded);
      if (type === 2) {
        const raw = Buffer.from(maybeDamaged(Buffer.from(other.oid, "hex"))).subarray(0, 20);
        parts.push(formatEntryHeader(REF_DELTA, delta.length), Uint8Array.from(raw));
      } else {
        const distance = offset - (offsets[base] ?? 0) + (random.below(20) === 0 ? 1 : 0);
        parts.push(formatEntryHeader(OFS_DELTA, delta.length), formatBaseDistance(distance));
      }
      parts.push(deflateSync(delta));
    }
    for (const part of parts) offset += part.length;
    pieces.push(...parts);
  }
  return trailed(joinBytes(pieces));
}

/**
 * Processes a pushed pack completely, except for storing it: with the kernel and without it.
 *
 * @throws Error if the two differ; otherwise what refuses the pack.
 */
async function receive(bytes: Uint8Array, objects: readonly KnownObject[]): Promise<void> {
  const outcome = (work: Promise<Uint8Array>): Promise<string> =>
    work.then(textOf, (error: unknown) => {
      if (error instanceof GitError) return `${error.code}: ${error.message}`;
      throw error;
    });
  const byKernel = await outcome(receiveOnce(bytes, objects, packKernel));
  const byEngine = receiveOnce(bytes, objects);
  if ((await outcome(byEngine)) !== byKernel) throw new Error("the kernel decides otherwise");
  await byEngine;
}

/** Returns the index of a pack. */
async function receiveOnce(
  bytes: Uint8Array,
  objects: readonly KnownObject[],
  kernel?: PackKernel,
): Promise<Uint8Array> {
  const known = new Map(objects.map((object) => [object.oid, object]));
  const bases = outsideOf(makeReader(known));
  let inspector: PackInspector | undefined;
  const scanner = new PackScanner(
    codec,
    limits,
    (entry, kind, content) => inspector?.onWhole(entry, kind, content),
    kernel,
  );
  inspector = new PackInspector(scanner.table, STRICT_SEVERITIES);
  const chunkBytes = 1 + makeRandom(bytes.length).below(bytes.length + 1);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    runNow(scanner.push(bytes.subarray(at, at + chunkBytes)));
  }
  const { table, checksum } = scanner.finish();
  const source = new MemorySource(bytes);
  const { externalOids } = await resolveDeltas(table, {
    source,
    codec,
    kernel,
    limits,
    scratch: new MemoryScratch(),
    budgetBytes: 1000,
    bases,
    listen: inspector.onResolved,
  });
  let name = checksum;
  if (externalOids.length > 0) {
    const completion = new ThinPackCompletion(source, table, externalOids, bases, codec);
    for await (const _ of completion.bytes()) continue;
    name = completion.checksum;
  }
  inspector.refuseErrors();
  const sidecar = await makeSidecar(table, name, inspector, bases, { generation: () => undefined });
  const idxBytes = runNow(formatIdx(table, name, codec));
  const idx = new IdxFile(idxBytes);
  const again = parseSidecar(runNow(formatSidecar(sidecar, codec)), codec);
  if (again.kinds.length !== idx.count) throw new Error("index and sidecar are of different packs");
  return idxBytes;
}

async function fileTargets(repository: string): Promise<Target[]> {
  const stored = await storePack(makePack(repository, ["main"]), gitReader(repository));
  const { table, checksum } = await index(stored.pack);
  return [
    {
      name: "index",
      makeInput: damaged([runNow(formatIdx(table, checksum, codec))]),
      run: (bytes) => {
        const file = new IdxFile(bytes);
        for (let position = 0; position < file.count; position += 10) {
          file.offset(position);
          file.find(bytes, position);
          file.findPrefix(file.oid(position).slice(0, 7));
        }
      },
    },
    {
      name: "sidecar",
      makeInput: (random) => sign(damage(random, runNow(formatSidecar(stored.sidecar, codec)))),
      run: (bytes) => parseSidecar(bytes, codec),
    },
  ];
}
