import { imageFailure } from "../../domain/images/image-failure.ts";
import type { ImageTarget } from "../../domain/images/image.ts";
import type { PackageContext } from "../../domain/packages/find-package.ts";
import { enterPackage, type PackageRequest } from "../enter.ts";
import type { RegistryContext } from "../env.ts";
import { requireImageName } from "./names.ts";
import { readRegistryCredential } from "./token.ts";

/** The context of a request for one image. */
export interface ImageRequest extends PackageRequest, ImageTarget {
  /** The path of the image, as the request has it: `/v2/owner/image`. */
  readonly path: string;
}

/** Authenticates a request and finds its image, in one round trip. @throws Failure as `enterPackage`; NAME_INVALID. */
export async function enterImage(
  c: RegistryContext,
  image: string,
  mode: "read" | "write",
): Promise<ImageRequest> {
  const name = requireImageName(image);
  const credential = await readRegistryCredential(c);
  const request = await enterPackage(c, {
    type: "container",
    name,
    nameKey: name,
    mode,
    credential,
  });
  return { ...request, name, path: `/v2/${c.req.param("owner")}/${name}` };
}

/** The image of a request that needs one. @throws Failure `not_found`, NAME_UNKNOWN */
export function requireImage({ pkg }: ImageRequest): PackageContext {
  if (!pkg) throw imageFailure("NAME_UNKNOWN", "the image does not exist");
  return pkg;
}
