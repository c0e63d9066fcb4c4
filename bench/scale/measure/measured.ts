/** A measured figure, by the name under which `inputs/costs.json` lists it. */
export type Measured = { name: string; value: number; unit: string };
