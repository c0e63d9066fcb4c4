import { createHash } from "node:crypto";

import { type Answer, visit } from "./call.ts";
import type { TestUser } from "./make.ts";

/** The hash of a content, as images name it. */
export const digestOf = (
  content: string | Uint8Array,
  algorithm: "sha256" | "sha512" = "sha256",
): string => `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;

export const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";

/** How a manifest names a content. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export const describeContent = (
  content: string,
  mediaType = "application/octet-stream",
): Descriptor => ({ mediaType, digest: digestOf(content), size: content.length });

/** The text of an image manifest. */
export const manifestOf = (config: string, layers: readonly string[], more: object = {}): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: describeContent(config, "application/vnd.oci.image.config.v1+json"),
    layers: layers.map((layer) =>
      describeContent(layer, "application/vnd.oci.image.layer.v1.tar+gzip"),
    ),
    ...more,
  });

/** The text of an index of image manifests. */
export const indexOf = (manifests: readonly string[], more: object = {}): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: manifests.map((manifest) => describeContent(manifest, OCI_MANIFEST)),
    ...more,
  });

/** One image as its owner, or somebody else, uses it. */
export class TestImage {
  readonly path: string;
  private readonly as: Pick<TestUser, "token"> | undefined;

  constructor(owner: Pick<TestUser, "name">, name: string, as?: Pick<TestUser, "token">) {
    this.path = `/v2/${owner.name}/${name}`;
    this.as = as;
  }

  request(
    method: string,
    path: string,
    sending: { body?: BodyInit; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    return visit(method, path.startsWith("/") ? path : `${this.path}/${path}`, {
      ...(this.as && { as: this.as }),
      ...sending,
    });
  }

  /** Uploads a blob by one request. */
  upload(content: string, digest = digestOf(content)): Promise<Answer> {
    return this.request("POST", `blobs/uploads/?digest=${digest}`, { body: content });
  }

  /** Begins an upload and returns its path. */
  async begin(): Promise<string> {
    const begun = await this.request("POST", "blobs/uploads/");
    return begun.headers.get("Location") ?? "";
  }

  /** Publishes a manifest, whose contents must be there. */
  publish(reference: string, manifest: string, type?: string): Promise<Answer> {
    const mediaType = type ?? (JSON.parse(manifest) as { mediaType: string }).mediaType;
    return this.request("PUT", `manifests/${reference}`, {
      body: manifest,
      headers: { "Content-Type": mediaType },
    });
  }

  /** Uploads contents and publishes an image of them. Returns the manifest. */
  async push(
    reference: string,
    { config = "{}", layers = ["layer"] }: { config?: string; layers?: string[] } = {},
  ): Promise<string> {
    for (const content of [config, ...layers]) await this.upload(content);
    const manifest = manifestOf(config, layers);
    const pushed = await this.publish(
      reference === "digest" ? digestOf(manifest) : reference,
      manifest,
    );
    if (pushed.status !== 201) throw new Error(JSON.stringify(pushed.body));
    return manifest;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("GET", path, { headers });
  }
}
