import { makeActionVariable } from "../../support/action-values.ts";
import { freshName } from "../../support/make.ts";
import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import { onOne, samplesOf } from "./level-samples.ts";

export const samples = defineSamples(
  samplesOf((level) => {
    const { infix } = level;
    const nameOf = async (row: object) => (await makeActionVariable(row)).name;
    const json = { value: "eu", description: "Where it runs" };
    return {
      [`get${infix}VariablesList`]: {
        request: async (world) => {
          await makeActionVariable(await level.row(world));
          return level.request(world);
        },
      },
      [`get${infix}Variable`]: { request: onOne(level, "variablename", nameOf) },
      [`create${infix}Variable`]: {
        request: onOne(level, "variablename", async () => freshName("V").replaceAll("-", "_"), {
          json,
        }),
        announces: NOTHING,
      },
      [`update${infix}Variable`]: {
        request: onOne(level, "variablename", nameOf, { json }),
        announces: NOTHING,
      },
      [`delete${infix}Variable`]: {
        request: onOne(level, "variablename", nameOf),
        announces: NOTHING,
      },
    };
  }),
);
