import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import type { ImageTarget } from "../../domain/packages/images/image.ts";
import type { PackageFileQuery } from "../../domain/packages/package/find-file.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import {
  enterPackage,
  enterPackageFileBy,
  type NamedPackage,
  type PackageFileRequest,
  type PackageRequest,
} from "../enter.ts";
import { unauthenticated } from "../../lib/failure.ts";
import type { RegistryContext } from "../env.ts";
import { requireImageName } from "./names.ts";
import { readRegistryCredential } from "./token.ts";

/** The context of a request for one image. */
export interface ImageRequest extends PackageRequest, ImageTarget {
  /** The path of the image, as the request has it: `/v2/owner/image`. */
  readonly path: string;
}

/**
 * Authenticates a request and finds its image, in one round trip. @throws Failure as
 * `enterPackage`; NAME_INVALID.
 */
export async function enterImage(
  c: RegistryContext,
  image: string,
  mode: "read" | "write",
): Promise<ImageRequest> {
  const named = await readNamed(c, image, mode);
  const { name } = named;
  const request = await enterPackage(c, named);
  return { ...request, name, path: `/v2/${c.req.param("owner")}/${name}` };
}

/**
 * The same to read a file of the image, also in one round trip: by a query as `enterPackageFileBy`
 * has it.
 */
export const enterImageFile = async <K>(
  c: RegistryContext,
  image: string,
  select: PackageFileQuery<K>,
  file: K,
): Promise<PackageFileRequest> =>
  enterPackageFileBy(c, await readNamed(c, image, "read"), select, file);

async function readNamed(
  c: RegistryContext,
  image: string,
  mode: "read" | "write",
): Promise<NamedPackage> {
  const name = requireImageName(image);
  const credential = await readRegistryCredential(c);
  return { type: "container", name, nameKey: name, mode, credential };
}

/** The image of a request that needs one. @throws Failure `not_found`, NAME_UNKNOWN */
export function requireImage({ pkg }: ImageRequest): PackageContext {
  if (!pkg) throw imageFailure("NAME_UNKNOWN", "the image does not exist");
  return pkg;
}

/**
 * Sends a client that shows no credential to the token endpoint, where one without an account gets
 * a token, too.
 *
 * @throws Failure `unauthenticated`
 */
export function requireCredential(c: RegistryContext): void {
  if (!c.req.header("authorization")) throw unauthenticated("get a token first");
}
