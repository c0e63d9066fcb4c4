import { makeRunner } from "../../support/action-values.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import { onOne, samplesOf } from "./level-samples.ts";

const refusal = { status: 403, reason: "the tested service has no key to seal the token" };

export const samples = defineSamples(
  samplesOf((level) => {
    const { prefix, infix, request } = level;
    const idOf = async (row: object) => (await makeRunner(row)).id;
    return {
      [`get${infix}Runners`]: {
        request: async (world) => {
          await makeRunner(await level.row(world));
          return request(world);
        },
      },
      [`${prefix}GetRunnerRegistrationToken`]: { request, refusal },
      [`${prefix}CreateRunnerRegistrationToken`]: { request, announces: NOTHING, refusal },
      [`${prefix}ResetRunnerRegistrationToken`]: { request, announces: NOTHING, refusal },
      [`get${infix}Runner`]: { request: onOne(level, "runner_id", idOf) },
      [`update${infix}Runner`]: {
        request: onOne(level, "runner_id", idOf, { json: { disabled: true } }),
        announces: NOTHING,
      },
      [`delete${infix}Runner`]: { request: onOne(level, "runner_id", idOf), announces: NOTHING },
    };
  }),
);
