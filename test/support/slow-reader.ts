import { deflateSync } from "node:zlib";

import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";

import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { visit } from "./call.ts";
import type { TestRepo, TestUser } from "./make.ts";

/** Size of each incompressible file. */
export const BLOB_BYTES = 2 * 1024 * 1024;
export const BLOBS = 5;

function makeNoise(): Uint8Array {
  const bytes = new Uint8Array(BLOB_BYTES);
  for (let at = 0; at < bytes.length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  }
  return bytes;
}

/** Pushes a root commit of large files to a branch of its own, and returns its id. */
export async function pushLarge(owner: TestUser, repo: TestRepo, branch: string): Promise<string> {
  const builder = new PackBuilder({ ...codec, deflate: storeOnly });
  const entries: Uint8Array[] = [];
  for (let at = 0; at < BLOBS; at++) {
    const oid = builder.add("blob", makeNoise());
    entries.push(encodeUtf8(`100644 file-${at}\0`), oidBytes(oid));
  }
  const tree = builder.add("tree", joinBytes(entries));
  const who = "A <a@example.com> 1700000000 +0000";
  const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${branch}\n`;
  const oid = builder.add("commit", encodeUtf8(text));
  const line = `${"0".repeat(40)} ${oid} refs/heads/${branch}\0report-status`;
  const head = `${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`;
  const { body } = await visit("POST", `/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    as: owner,
    headers: { "Content-Type": "application/x-git-receive-pack-request" },
    body: joinBytes([encodeUtf8(head), builder.build()]) as Uint8Array<ArrayBuffer>,
  });
  expect(body).toContain(`ok refs/heads/${branch}`);
  return oid;
}

/** Deflate without compression, which is fast. */
const storeOnly = (bytes: Uint8Array): Uint8Array => deflateSync(bytes, { level: 0 });

/** Counts the reads from the bucket. */
export interface Meter {
  bytes: number;
  /** Reads in progress. */
  open: number;
}

/** Wraps the bucket so that `meter` counts all reads. */
function meterReads(bucket: R2Bucket, meter: Meter): R2Bucket {
  const metered = async <T>(read: Promise<T>, bytesOf: (value: T) => number): Promise<T> => {
    meter.open++;
    try {
      const value = await read;
      meter.bytes += bytesOf(value);
      return value;
    } finally {
      meter.open--;
    }
  };
  /** The same object with some of its methods replaced. */
  const withMethods = <T extends object>(
    object: T,
    methods: Partial<Record<keyof T, unknown>>,
  ): T =>
    new Proxy(object, {
      get(target, name) {
        if (name in methods) return methods[name as keyof T];
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const meterReader = (reader: ReadableStreamBYOBReader) =>
    withMethods(reader as ReadableStreamBYOBReader & { readAtLeast: BoundedRead }, {
      readAtLeast: (minBytes: number, view: Uint8Array) =>
        metered(
          (reader as unknown as { readAtLeast: BoundedRead }).readAtLeast(minBytes, view),
          ({ value }) => value?.length ?? 0,
        ),
    });
  return withMethods(bucket, {
    get: async (key: string, options?: R2GetOptions) => {
      const object = await metered(bucket.get(key, options), () => 0);
      if (!object || !("body" in object)) return object;
      return withMethods(object, {
        arrayBuffer: () => metered(object.arrayBuffer(), ({ byteLength }) => byteLength),
        body: withMethods(object.body, {
          getReader: () => meterReader(object.body.getReader({ mode: "byob" })),
        }),
      });
    },
  });
}

type BoundedRead = (
  minBytes: number,
  view: Uint8Array,
) => Promise<{ value?: Uint8Array; done: boolean }>;

/** Waits until the service stops reading from the bucket, while no one reads the response. */
export async function settle(meter: Meter): Promise<void> {
  for (let quiet = 0; quiet < 20;) {
    const before = meter.bytes;
    await new Promise((resolve) => setTimeout(resolve, 0));
    quiet = meter.open === 0 && meter.bytes === before ? quiet + 1 : 0;
  }
}

/** Sends a request, and returns the response body as an unread stream. */
export async function startReading(request: Request) {
  const meter: Meter = { bytes: 0, open: 0 };
  const bindings = { ...env, PACKS: meterReads(env.PACKS, meter) };
  const app = createApp(parseConfig({}));
  const response = await app.fetch(request, bindings, createExecutionContext());
  if (!response.body) throw new Error("the response has no body");
  return { meter, reader: response.body.getReader() };
}

/**
 * Reads a response to its end, and pauses several times until the service has settled.
 *
 * @param totalBytes Approximate size of the response.
 * @returns The bytes read from the response, and the maximum by which the reads from the bucket
 *   were ahead.
 */
export async function readSlowly(
  { meter, reader }: Awaited<ReturnType<typeof startReading>>,
  totalBytes: number,
): Promise<{ takenBytes: number; aheadMax: number }> {
  let takenBytes = 0;
  let aheadMax = 0;
  const stops = [0, 0.01, 0.3, 0.6, 0.9].map((part) => part * totalBytes);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return { takenBytes, aheadMax };
    takenBytes += value.length;
    if (takenBytes >= (stops[0] ?? Number.POSITIVE_INFINITY)) {
      stops.shift();
      await settle(meter);
    }
    aheadMax = Math.max(aheadMax, meter.bytes - takenBytes);
  }
}
