import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const rulesetPath = async (world: World) => ({
  ...(await world.orgPath()),
  id: (await world.ruleset()).id,
});

export const samples = defineSamples({
  orgListRulesets: {
    request: async (world) => {
      await world.ruleset();
      return { path: await world.orgPath() };
    },
    sameForBound: "rulesets are in no repository",
  },
  orgCreateRuleset: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { rule_name: freshName("ruleset"), repository_patterns: "api-*", enable_push: true },
    }),
    announces: NOTHING,
  },
  orgGetRuleset: {
    request: async (world) => ({ path: await rulesetPath(world) }),
    sameForBound: "rulesets are in no repository",
  },
  orgEditRuleset: {
    request: async (world) => ({
      path: await rulesetPath(world),
      json: { merge_whitelist_usernames: [(await world.user()).name] },
    }),
    announces: NOTHING,
  },
  orgDeleteRuleset: {
    request: async (world) => ({ path: await rulesetPath(world) }),
    announces: NOTHING,
  },
});
