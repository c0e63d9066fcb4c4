import type { PackageType } from "../db/schema/index.ts";
import {
  selectRegistry,
  toRegistryView,
  type RegistryView,
} from "../domain/packages/package/find-registry.ts";
import { enterOwner, type OwnerRequest, type RegistryRule } from "./enter.ts";
import type { RegistryContext } from "./env.ts";

/** The context of a request for all packages of a format and owner. */
export interface RegistryRequest extends OwnerRequest, RegistryView {}

/**
 * Authenticates a request and finds the registry of a format and owner, in one round trip.
 *
 * @throws Failure and Moved as `enterOwner`.
 */
export async function enterRegistry(
  c: RegistryContext,
  { type, ...rule }: RegistryRule & { readonly type: PackageType },
): Promise<RegistryRequest> {
  const { ctx, owner, more } = await enterOwner(c, rule, (db, named) =>
    selectRegistry(db, { ...named, type }),
  );
  return { ctx, owner, ...toRegistryView(ctx.actor, owner, type, more) };
}
