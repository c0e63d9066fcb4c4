import { createHash } from "node:crypto";

import { z } from "zod";

import { type ArchiveSource, readSource, sourceOfBytes } from "../../lib/archive-source.ts";
import { gunzip } from "../archives/gunzip.ts";
import { readTar } from "../archives/tar.ts";
import { malformed } from "../../lib/failure.ts";
import { type GemSpec, parseGemspec, readUntypedYaml } from "./parse-gemspec.ts";

/** Maximum bytes of the specification and of the digests, uncompressed. */
const PART_BYTES_MAX = 1024 * 1024;
/** Maximum number of parts. */
const PARTS_MAX = 16;

const SPECIFICATION = "metadata.gz";
const CONTENT = "data.tar.gz";
const CHECKSUMS = "checksums.yaml.gz";

const ALGORITHMS = ["sha1", "sha256", "sha512"];
const Checksums = z.record(z.string(), z.record(z.string(), z.string()));

/** The digests of a part, in hex, by algorithm. */
type PartDigests = ReadonlyMap<string, string>;

/**
 * Reads a gem: a tar archive with its specification, its content, the digests of both, and
 * signatures.
 *
 * @returns The specification.
 * @throws Failure `malformed` for what is no gem, or whose parts do not have the digests that it
 * states; `too_large` for a too large specification.
 * @see Gem::Package of RubyGems.
 */
export async function parseGem(source: ArchiveSource): Promise<GemSpec> {
  const digests = new Map<string, PartDigests>();
  const texts = new Map<string, Uint8Array>();
  for await (const entry of readTar(readSource(source), { entriesMax: PARTS_MAX })) {
    const { path } = entry;
    if (entry.type !== "file" || digests.has(path)) {
      throw malformed("a gem has files only, and each once");
    }
    if (path === SPECIFICATION || path === CHECKSUMS) {
      const bytes = await entry.read(PART_BYTES_MAX);
      texts.set(path, bytes);
      digests.set(path, await digestPart(path, [bytes]));
    } else {
      digests.set(path, await digestPart(path, entry.pieces()));
    }
  }
  const specification = texts.get(SPECIFICATION);
  const checksums = texts.get(CHECKSUMS);
  if (!specification || !digests.has(CONTENT)) {
    throw malformed(`the file is no gem: it needs ${SPECIFICATION} and ${CONTENT}`);
  }
  if (checksums) await requireChecksums(await unzipText(checksums), digests);
  return parseGemspec(await unzipText(specification));
}

async function digestPart(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<PartDigests> {
  const hashes = new Map(ALGORITHMS.map((algorithm) => [algorithm, createHash(algorithm)]));
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst && path === CONTENT && !(piece[0] === 0x1f && piece[1] === 0x8b)) {
      throw malformed("the content of the gem is not compressed by gzip");
    }
    isFirst = false;
    for (const hash of hashes.values()) hash.update(piece);
  }
  return new Map(Array.from(hashes, ([algorithm, hash]) => [algorithm, hash.digest("hex")]));
}

/** Compares the digests that the gem states, by algorithm and part, with those of its parts. */
async function requireChecksums(
  text: string,
  digests: ReadonlyMap<string, PartDigests>,
): Promise<void> {
  const stated = Checksums.safeParse(await readUntypedYaml(text));
  if (!stated.success) throw malformed(`${CHECKSUMS} does not have digests of the parts`);
  for (const [algorithm, parts] of Object.entries(stated.data)) {
    for (const [part, digest] of Object.entries(parts)) {
      const actual = digests.get(part)?.get(algorithm.toLowerCase());
      if (actual !== undefined && actual !== digest.toLowerCase()) {
        throw malformed(`${part} does not have the ${algorithm} that the gem states`);
      }
    }
  }
}

async function unzipText(bytes: Uint8Array): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const piece of gunzip(readSource(sourceOfBytes(bytes)), PART_BYTES_MAX)) {
    text += decodePiece(decoder, piece);
  }
  return text + decodePiece(decoder);
}

/** @param piece Undefined at the end. */
function decodePiece(decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw malformed("a part of the gem is not UTF-8");
    throw error;
  }
}
