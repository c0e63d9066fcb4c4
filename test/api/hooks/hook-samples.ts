import { eachTime, once, type SampleRequest, type Samples } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

/** The webhooks of one kind of owner, as samples of their operations need them. */
export interface SampledHooks {
  /** Prefix of the operation ids. */
  prefix: string;
  /** The parameters of the list's path. */
  owner: (world: World) => Promise<Record<string, string | number>>;
  /** The administrator, if it is not the world's user. */
  as?: (world: World) => Promise<Pick<SampleRequest, "as">>;
  hook: (world: World) => Promise<{ id: number }>;
  delivery: (world: World) => Promise<{ id: number }>;
  /** The query of the test operation, which needs a repository with code. */
  testQuery: (world: World) => Promise<Record<string, string>>;
  /** Why a test may take one round trip more than other writes. */
  extraRound?: string;
  /** Configuration fields of a new webhook. */
  config?: Readonly<Record<string, string>>;
  /** Variants of the list's request that lead to other SQL. */
  listVariants?: readonly SampleRequest[];
}

const SINCE_LONG = { since: "2020-01-31T08:15:00+02:00" };

/** The samples of all operations on the webhooks of one kind of owner. */
export function hookSamples({
  prefix,
  owner,
  as = async () => ({}),
  hook,
  delivery,
  testQuery,
  extraRound,
  config,
  listVariants = [],
}: SampledHooks): Samples {
  const onList = async (world: World) => ({ ...(await as(world)), path: await owner(world) });
  const onHook = async (world: World) => ({
    ...(await as(world)),
    path: { ...(await owner(world)), id: (await hook(world)).id },
  });
  const onDelivery = async (world: World) => ({
    ...(await as(world)),
    path: {
      ...(await owner(world)),
      id: (await hook(world)).id,
      delivery_id: (await delivery(world)).id,
    },
  });
  return {
    [`${prefix}ListHooks`]: {
      request: async (world) => {
        await hook(world);
        return onList(world);
      },
      variants: async () => listVariants,
    },
    [`${prefix}CreateHook`]: {
      request: async (world) => ({
        ...(await onList(world)),
        json: {
          type: "gitea",
          config: { url: "https://receiver.example/hook", content_type: "json", ...config },
          events: ["push"],
          branch_filter: "main",
        },
      }),
      // Two webhooks with the same URL are two webhooks.
      announces: eachTime("hook.created"),
    },
    [`${prefix}GetHook`]: { request: onHook },
    [`${prefix}EditHook`]: {
      request: async (world) => ({ ...(await onHook(world)), json: { branch_filter: "main" } }),
      announces: once("hook.edited"),
    },
    [`${prefix}DeleteHook`]: { request: onHook, announces: once("hook.deleted") },
    [`${prefix}TestHook`]: {
      request: async (world) => ({ ...(await onHook(world)), query: await testQuery(world) }),
      announces: eachTime("hook.tested"),
      ...(extraRound !== undefined && { extraRound }),
    },
    [`${prefix}ListHookDeliveries`]: {
      request: async (world) => {
        await delivery(world);
        return onHook(world);
      },
      variants: async () => [
        { query: { status: "failed" } },
        { query: { event: "push" } },
        { query: { status: "failed", event: "push" } },
      ],
    },
    [`${prefix}GetHookDelivery`]: { request: onDelivery },
    // A delivery that is due already is not redelivered again.
    [`${prefix}RedeliverFailedHookDeliveries`]: {
      request: async (world) => {
        await delivery(world);
        return { ...(await onHook(world)), json: SINCE_LONG };
      },
      announces: once("hook.redelivered"),
    },
    [`${prefix}RedeliverHookDelivery`]: {
      request: onDelivery,
      announces: once("hook.redelivered"),
    },
  };
}
