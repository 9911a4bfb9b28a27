// Token embedding of row r: x[first + r] = scale (1 - blend) W[token]. If `adds_blend` is set, x[first + r] += scale blend W[blend_with].
// weights: [slab_rows, 16 groups], x: [.., stride].
// Dispatch: one invocation per 16 values; x over groups, y over rows.

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;

#import weights

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.groups || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    let adds_blend = p.adds_blend == 1u;
    let token = select(row.token, row.blend_with, adds_blend);
    if token < p.slab_first || token >= p.slab_end || (adds_blend && row.blend == 0.0) {
        return;
    }
    let part = p.scale * select(1.0 - row.blend, row.blend, adds_blend);
    let group = group_at(row_at(token - p.slab_first), id.x / 4u, id.x % 4u);
    let at = (p.first + id.y) * p.stride + id.x * 16u;
    for (var j = 0u; j < 4u; j++) {
        let values = part * four(group, j);
        for (var i = 0u; i < 4u; i++) {
            x[at + 4u * j + i] = values[i] + select(0.0, x[at + 4u * j + i], adds_blend);
        }
    }
}
