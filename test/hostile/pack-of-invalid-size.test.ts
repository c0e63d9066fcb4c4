import { deflateSync } from "node:zlib";

import { expect, it, vi } from "vitest";

import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { hashObject } from "../../src/git/object/hash-object.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { formatPackHeader } from "../../src/git/pack/pack-scanner.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { make } from "../support/make.ts";
import { filesOf, push, refsOf } from "../support/push.ts";

// SECURITY: a number in a pack ends at a byte without the highest bit, so it may have any number of
// digits of 0. Beyond 2^1024 the size of an object was no number, all limits held, and a push of
// one kilobyte ran until the platform ended the Worker.

const BLOB = encodeUtf8("words");
const BLOB_OID = hashObject("blob", BLOB);

/** A number of `digits` digits, all 0 but the first. */
const zeros = (first: number, digits: number): Uint8Array =>
  Uint8Array.of(first | 0x80, ...Array.from({ length: digits }, () => 0x80), 0);

const packOf = (...entries: Uint8Array[]): Uint8Array => {
  const body = joinBytes([formatPackHeader(entries.length), ...entries]);
  const hash = codec.createSha1();
  hash.update(body);
  return joinBytes([body, hash.digest()]);
};

const blobEntry = (digits: number): Uint8Array =>
  joinBytes([zeros((3 << 4) | 5, digits), deflateSync(BLOB)]);
const deltaEntry = (delta: Uint8Array): Uint8Array =>
  joinBytes([Uint8Array.of((7 << 4) | delta.length), oidBytes(BLOB_OID), deflateSync(delta)]);

it.each([
  ["an object's size", packOf(blobEntry(160)), "pack: entry size"],
  ["an object's size, of few digits", packOf(blobEntry(9)), "pack: entry size"],
  ["an object's size that never ends", packOf(zeros(3 << 4, 100_000)), "pack: entry size"],
  [
    "a delta's base",
    packOf(blobEntry(0), deltaEntry(joinBytes([zeros(5, 8), Uint8Array.of(1, 1, 65)]))),
    "delta: size",
  ],
  [
    "a delta's result",
    packOf(blobEntry(0), deltaEntry(joinBytes([Uint8Array.of(5), zeros(1, 8)]))),
    "delta: size",
  ],
])("refuses a pack with digits of 0 in %s", async (_, pack, reason) => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const { body } = await push(owner, repo, BLOB_OID, pack);
  expect(body).toContain(`unpack ${reason}\n`);
  expect(await refsOf(repo)).toEqual([]);
  await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
});
