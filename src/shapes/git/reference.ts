import { z } from "@hono/zod-openapi";

import { type ByteText, decodeText } from "../../git/byte-text.ts";
import type { ObjectKind } from "../../git/object/kind.ts";
import type { Oid } from "../../git/oid.ts";
import { apiUrlOf, encodePath, objectUrlOf } from "../urls.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import type { Viewer } from "../viewer.ts";

const GitObject = z
  .object({
    type: z.enum(["commit", "tree", "blob", "tag"]),
    sha: z.string(),
    url: z.string().openapi({ format: "uri" }),
  })
  .openapi("GitObject");

export const Reference = z
  .object({
    ref: z.string().openapi({ example: "refs/heads/main" }),
    url: z.string().openapi({ format: "uri" }),
    object: GitObject,
  })
  .openapi("Reference");

/** A ref with its target: for an annotated tag, the tag object. */
export interface RefEntry {
  /** The full name. */
  readonly name: ByteText;
  readonly oid: Oid;
  readonly kind: ObjectKind;
}

export function toReference(
  repo: RepositoryContext,
  { name, oid, kind }: RefEntry,
  viewer: Viewer,
): z.infer<typeof Reference> {
  const ref = decodeText(name);
  return {
    ref,
    url: `${apiUrlOf(repo, viewer)}/git/${encodePath(ref)}`,
    object: { type: kind, sha: oid, url: objectUrlOf(repo, kind, oid, viewer) },
  };
}
