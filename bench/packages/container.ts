import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";

import type { Request } from "../api/cases.ts";
import { ask, type Client, openClient } from "../api/client.ts";
import type { Journal } from "../api/usage.ts";
import { openDistribution } from "./distribution.ts";
import { measure, measureByTurns } from "./measure.ts";
import type { Options } from "./options.ts";
import { authorizationOf, forEachAtOnce, type Registry } from "./registry.ts";

const IMAGE = "large";
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
/** Layers at once, as Docker pulls and pushes them. */
const LAYERS_AT_ONCE = 3;
const PULLS = 3;

/** A blob to push. */
type Blob = { digest: string; bytes: Uint8Array };

export const openPeer = (directory: string): Promise<Registry | undefined> =>
  openDistribution(join(directory, "distribution"));

/** Measures pushes and pulls of a large image. @returns Tables. */
export async function bench(
  _directory: string,
  registries: readonly Registry[],
  journal: Journal,
  { layers, layerBytes, seconds }: Options,
): Promise<string[]> {
  const noise = randomBytes(layerBytes);
  const size = `${Math.round((layers * layerBytes) / 1e6)} MB in ${layers} layers`;
  const pushes = await measureByTurns(`push of ${size}`, registries, 1, (registry) =>
    timed(() => pushImage(registry, noise, layers)),
  );
  const rates = await measure(
    {
      registries,
      casesOf: ({ path }) => [
        {
          name: "manifest by its tag",
          status: 200,
          next: () => ({
            method: "GET",
            path: `${path}${IMAGE}/manifests/latest`,
            headers: { accept: MANIFEST_TYPE },
          }),
        },
        {
          name: "config of an image",
          status: 200,
          next: () => ({ method: "GET", path: `${path}${IMAGE}/blobs/${CONFIG.digest}` }),
        },
      ],
      // A tag of an image that is there: a manifest whose blobs the registry has.
      publicationOf: async (registry, at) => ({
        method: "PUT",
        path: `${registry.path}${IMAGE}/manifests/tag-${at}`,
        headers: { "content-type": MANIFEST_TYPE, ...authorizationOf(registry) },
        body: manifestOf([], { "bench.number": String(at) }),
        status: 201,
      }),
    },
    journal,
    seconds,
  );
  const pulls = await measureByTurns(`pull of ${size}`, registries, PULLS, (registry) =>
    timed(() => pullImage(registry)),
  );
  return [rates, pushes, pulls];
}

async function timed(run: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await run();
  return (performance.now() - from) / 1000;
}

function toBlob(bytes: Uint8Array): Blob {
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes };
}

const CONFIG = toBlob(
  Buffer.from(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers"}}`),
);

function manifestOf(
  layers: readonly { digest: string; size: number }[],
  annotations: Readonly<Record<string, string>> = {},
): string {
  const { digest, bytes } = CONFIG;
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: bytes.length },
    layers: layers.map((layer) => ({
      mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
      ...layer,
    })),
    annotations,
  });
}

/** Pushes an image whose layers are the same noise, but for their first bytes. */
async function pushImage(registry: Registry, noise: Buffer, layers: number): Promise<void> {
  const client = openClient(registry.origin);
  await pushBlob(registry, client, CONFIG);
  const pushed: { digest: string; size: number }[] = [];
  await forEachAtOnce(Array.from({ length: layers }).keys(), LAYERS_AT_ONCE, async (at) => {
    const bytes = Buffer.from(noise);
    bytes.writeUInt32LE(at);
    const blob = toBlob(bytes);
    await pushBlob(registry, client, blob);
    pushed[at] = { digest: blob.digest, size: bytes.length };
  });
  await ask(client, {
    name: "push of a manifest",
    status: 201,
    next: () => ({
      method: "PUT",
      path: `${registry.path}${IMAGE}/manifests/latest`,
      headers: { "content-type": MANIFEST_TYPE, ...authorizationOf(registry) },
      body: manifestOf(pushed),
    }),
  });
  client.close();
}

/** Pushes a blob in two requests, which every registry understands. */
async function pushBlob(
  registry: Registry,
  client: Client,
  { digest, bytes }: Blob,
): Promise<void> {
  const { path, origin } = registry;
  const begun = await fetch(new URL(`${path}${IMAGE}/blobs/uploads/`, origin), {
    method: "POST",
    headers: authorizationOf(registry),
  });
  const location = new URL(begun.headers.get("location") ?? "", origin);
  location.searchParams.set("digest", digest);
  await ask(client, {
    name: "push of a blob",
    status: 201,
    next: () => ({
      method: "PUT",
      path: location.pathname + location.search,
      headers: { "content-type": "application/octet-stream", ...authorizationOf(registry) },
      body: bytes,
    }),
  });
}

/** Pulls the image: its manifest, and then its blobs. */
async function pullImage({ path, origin }: Registry): Promise<void> {
  const headers = { accept: MANIFEST_TYPE };
  const answer = await fetch(new URL(`${path}${IMAGE}/manifests/latest`, origin), { headers });
  const { config, layers } = (await answer.json()) as {
    config: { digest: string; size: number };
    layers: { digest: string; size: number }[];
  };
  const client = openClient(origin);
  await forEachAtOnce([config, ...layers], LAYERS_AT_ONCE, async ({ digest, size }) => {
    const next = (): Request => ({ method: "GET", path: `${path}${IMAGE}/blobs/${digest}` });
    const { bytes } = await ask(client, { name: "pull of a blob", status: 200, next });
    if (bytes !== size) throw new Error(`a blob of ${size} bytes came with ${bytes}`);
  });
  client.close();
}
