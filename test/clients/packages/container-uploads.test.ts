import { createHash, randomBytes } from "node:crypto";
import { type ClientRequest, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { beforeAll, expect, it } from "vitest";

import { type Caller, freshName, makeToken, makeUser, serviceUrl } from "../support/forge.ts";

const MIB = 1024 * 1024;

let owner: Caller;
let authorization: string;

beforeAll(async () => {
  owner = await makeUser();
  const password = await makeToken(owner, "write:package");
  authorization = `Basic ${btoa(`${owner.name}:${password}`)}`;
});

const digestOf = (content: Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** A request with the owner's credentials. */
const send = (method: string, url: string, body?: Uint8Array<ArrayBuffer>, range?: string) =>
  fetch(new URL(url, serviceUrl), {
    method,
    headers: { authorization, ...(range && { "Content-Range": range }) },
    ...(body && { body }),
  });

/** Begins an upload. @returns Its path, and that of the image. */
async function begin(): Promise<{ image: string; upload: string }> {
  const image = `/v2/${owner.name}/${freshName("image")}`;
  const answer = await send("POST", `${image}/blobs/uploads/`);
  expect(answer.status).toBe(202);
  return { image, upload: answer.headers.get("location") ?? "" };
}

/**
 * Sends the first `until` bytes of a body, and closes the connection in the middle of the request.
 */
async function breakOff(
  method: string,
  path: string,
  { body, until, range }: { body: Uint8Array; until: number; range?: string | undefined },
): Promise<void> {
  const outgoing: ClientRequest = request(new URL(path, serviceUrl), {
    method,
    headers: {
      authorization,
      "content-type": "application/octet-stream",
      "content-length": body.length,
      ...(range && { "content-range": range }),
    },
  });
  const closed = new Promise((resolve) => outgoing.on("error", () => {}).on("close", resolve));
  await new Promise<void>((resolve) => {
    outgoing.write(body.subarray(0, until), () => resolve());
  });
  outgoing.destroy();
  await closed;
}

/**
 * How many bytes an upload has, by its status. The service notices with a delay that a client has
 * left.
 */
async function receivedOf(upload: string, atLeast: number): Promise<number> {
  let received = -1;
  for (let attempt = 0; attempt < 40; attempt++) {
    const answer = await send("GET", upload);
    expect(answer.status).toBe(204);
    received = Number(/^0-(\d+)$/.exec(answer.headers.get("range") ?? "")?.[1]);
    if (received + 1 >= atLeast) return received + 1;
    await sleep(100);
  }
  return received + 1;
}

/** Goes on with an upload from where it is, ends it, and reads the blob. */
async function goOn(
  { image, upload }: { image: string; upload: string },
  content: Uint8Array<ArrayBuffer>,
  from: number,
): Promise<void> {
  const rest = content.slice(from);
  const patched = await send("PATCH", upload, rest, `${from}-${content.length - 1}`);
  expect([patched.status, patched.headers.get("range")]).toEqual([202, `0-${content.length - 1}`]);
  const digest = digestOf(content);
  const ended = await send("PUT", `${upload}?digest=${digest}`);
  expect([ended.status, ended.headers.get("docker-content-digest")]).toEqual([201, digest]);
  const read = await fetch(new URL(`${image}/blobs/${digest}`, serviceUrl));
  expect(digestOf(new Uint8Array(await read.arrayBuffer()))).toBe(digest);
}

const LENGTHS: [string, number, number][] = [
  ["before its first piece", 1000, 100],
  ["in the middle of a piece", 3 * MIB, 2 * MIB + 1234],
  ["in the middle of its second part", 20 * MIB, 10 * MIB + 77_777],
];

it.each(LENGTHS)("a chunk that breaks off %s goes on from there", async (_, length, until) => {
  const place = await begin();
  const content = new Uint8Array(randomBytes(length));
  await breakOff("PATCH", place.upload, { body: content, until });
  expect(await receivedOf(place.upload, until)).toBe(until);
  await goOn(place, content, until);
});

it("a chunk with its range that breaks off goes on from there, also twice", async () => {
  const place = await begin();
  const content = new Uint8Array(randomBytes(5 * MIB));
  const last = content.length - 1;
  const first = await send("PATCH", place.upload, content.slice(0, MIB + 3), `0-${MIB + 2}`);
  expect(first.status).toBe(202);
  let at = MIB + 3;
  for (const until of [700_001, 900_002]) {
    const range = `${at}-${last}`;
    await breakOff("PATCH", place.upload, { body: content.subarray(at), until, range });
    at += until;
    expect(await receivedOf(place.upload, at)).toBe(at);
  }
  // What was received is not received again.
  const again = await send("PATCH", place.upload, content.slice(0, MIB), `0-${MIB - 1}`);
  expect([again.status, again.headers.get("range")]).toEqual([416, `0-${at - 1}`]);
  await goOn(place, content, at);
});

it.each([0, 2 * MIB + 5])(
  "an end with bytes that breaks off after %i bytes in chunks goes on from there",
  async (before) => {
    const place = await begin();
    const content = new Uint8Array(randomBytes(4 * MIB));
    if (before > 0) await send("PATCH", place.upload, content.slice(0, before));
    const path = `${place.upload}?digest=${digestOf(content)}`;
    const until = MIB + 4321;
    await breakOff("PUT", path, { body: content.subarray(before), until });
    expect(await receivedOf(place.upload, before + until)).toBe(before + until);
    await goOn(place, content, before + until);
  },
);
