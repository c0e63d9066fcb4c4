import { makeActionSecret } from "../../support/action-values.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import { onOne, samplesOfSecrets } from "./level-samples.ts";

export const samples = defineSamples(
  samplesOfSecrets((level) => {
    const { prefix, infix } = level;
    const nameOf = async (row: object) => (await makeActionSecret(row)).name;
    return {
      [`${prefix}ListActionsSecrets`]: {
        request: async (world) => {
          await makeActionSecret(await level.row(world));
          return level.request(world);
        },
      },
      [`update${infix}Secret`]: {
        request: onOne(level, "secretname", async () => "DEPLOY_KEY", {
          json: { data: "secret", description: "Of the server" },
        }),
        announces: NOTHING,
        refusal: { status: 403, reason: "the tested service has no key to seal secrets" },
      },
      [`delete${infix}Secret`]: {
        request: onOne(level, "secretname", nameOf),
        announces: NOTHING,
      },
    };
  }),
);
