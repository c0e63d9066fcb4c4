import { enterRegistry, type RegistryRequest } from "../enter-registry.ts";
import type { OwnerRequest } from "../enter.ts";
import type { RegistryContext } from "../env.ts";
import { readApiKey } from "./read-api-key.ts";

/** Finds the packages of an owner that the caller may see. */
export const enterNuget = (c: RegistryContext): Promise<RegistryRequest> =>
  enterRegistry(c, { type: "nuget", mode: "read", credential: readApiKey(c) });

/** The URL of the registry. */
export const baseOf = ({ ctx, owner }: OwnerRequest): string =>
  `${ctx.rootUrl}/api/packages/${owner.account.name}/nuget`;
