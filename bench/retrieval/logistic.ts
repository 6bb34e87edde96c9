export interface Sample {
  readonly values: readonly number[];
  readonly isTrue: boolean;
  readonly weight: number;
}

const newtonSteps = 30;
/** Keeps weights finite where the samples could be told apart without error. */
const ridge = 1e-3;

/** Logistic regression by Newton's method: bias first, then one weight per value. */
export function fitLogistic(samples: readonly Sample[]): number[] {
  const size = (samples[0]?.values.length ?? 0) + 1;
  const total = samples.reduce((sum, sample) => sum + sample.weight, 0);
  const weights = Array.from({ length: size }, () => 0);
  for (let step = 0; step < newtonSteps; step += 1) {
    const gradient = weights.map((weight, at) => (at === 0 ? 0 : ridge * total * weight));
    const hessian = weights.map((_, row) => weights.map((__, at) => (row === at && row > 0 ? ridge * total : 0)));
    for (const { values, isTrue, weight } of samples) {
      const inputs = [1, ...values];
      const likely = 1 / (1 + Math.exp(-inputs.reduce((sum, input, at) => sum + input * (weights[at] as number), 0)));
      for (const [row, input] of inputs.entries()) {
        gradient[row] = (gradient[row] as number) + weight * (likely - (isTrue ? 1 : 0)) * input;
        const line = hessian[row] as number[];
        for (const [at, other] of inputs.entries())
          line[at] = (line[at] as number) + weight * likely * (1 - likely) * input * other;
      }
    }
    for (const [at, change] of solve(hessian, gradient).entries()) weights[at] = (weights[at] as number) - change;
  }
  return weights;
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at] as number]);
  const size = rows.length;
  const cell = (row: number, column: number): number => (rows[row] as number[])[column] as number;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1)
      if (Math.abs(cell(row, column)) > Math.abs(cell(pivot, column))) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]];
    for (let row = 0; row < size; row += 1) {
      if (row === column) continue;
      const factor = cell(row, column) / cell(column, column);
      rows[row] = (rows[row] as number[]).map((value, at) => value - factor * cell(column, at));
    }
  }
  return rows.map((row, at) => (row[size] as number) / (row[at] as number));
}

/** How likely one of `high` is above one of `low`: 0.5 is chance, 1 always. */
export function areaUnderCurve(high: readonly number[], low: readonly number[]): number {
  const sorted = [...low].sort((a, b) => a - b);
  let sum = 0;
  for (const value of high) sum += (placeOf(sorted, value, false) + placeOf(sorted, value, true)) / 2;
  return sum / (high.length * low.length);
}

/** How many of the sorted values are below a value, or at most as high. */
function placeOf(sorted: readonly number[], value: number, orEqual: boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle] as number;
    if (other < value || (orEqual && other === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
