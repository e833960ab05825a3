/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * Draws the chain or the trees of a plan, as its routes have them, so that what is drawn is what
 * ranks do.
 */

#include "predict.h"

/* Ranks of a line, and lines of a tree, that are drawn. */
#define LINE_MOST 8
#define LINES_MOST 24

typedef struct {
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_situation_t at;
    int pipe;
    int lines; /* that are still drawn */
    const char *arrow;
} drawing_t;

/* Ranks behind one in a pipe, away from its end; how many. */
static int find_behind(drawing_t *drawing, int rank, int *behind)
{
    drawing->at.me = rank;
    mca_coll_pipering_plan_route(drawing->plan, &drawing->at);
    const mca_coll_pipering_route_t *route = &drawing->plan->route[drawing->pipe];
    const int count = route->reduces ? route->ins : route->outs;

    for (int i = 0; i < count; ++i) {
        behind[i] = route->reduces ? route->in[i].peer : route->out[i].peer;
    }
    return count;
}

/* The first rank behind one stands in its line, the others in lines of their own below. */
static void draw_behind(drawing_t *drawing, int rank, int depth)
{
    int behind[MCA_COLL_PIPERING_MESH_DOWNS];
    const int count = find_behind(drawing, rank, behind);

    for (int i = 0; i < count && 0 <= drawing->lines; ++i) {
        if (0 < i) {
            (void) printf("\n  %*s", 5 + 9 * depth, "");
        }
        if ((0 < i && 0 > --drawing->lines) || LINE_MOST == depth) {
            (void) printf(" ...");
            return;
        }
        (void) printf(" %s %-5d", drawing->arrow, behind[i]);
        draw_behind(drawing, behind[i], depth + 1);
    }
}

/* The rank that a pipe begins or ends at: nobody sends it anything, or it sends to nobody. */
static int find_end(drawing_t *drawing)
{
    drawing->at.me = drawing->plan->key.root;
    mca_coll_pipering_plan_route(drawing->plan, &drawing->at);
    const mca_coll_pipering_route_t *route = &drawing->plan->route[drawing->pipe];

    if (0 == (route->reduces ? route->outs : route->ins)) {
        return drawing->plan->key.root;
    }
    return drawing->at.ranks - 1; /* a scan ends at the last rank */
}

static void draw_tree(drawing_t *drawing)
{
    const int end = find_end(drawing);
    const bool reduces = drawing->plan->route[drawing->pipe].reduces;

    drawing->arrow = reduces ? "<-" : "->";
    drawing->lines = LINES_MOST;
    (void) printf("pipeline %d of %d, %s rank %d:\n  %-5d", drawing->pipe + 1,
                  drawing->plan->pipes, reduces ? "to" : "from", end, end);
    draw_behind(drawing, end, 0);
    (void) printf("\n");
}

void predict_draw(const predict_t *predict, mca_coll_pipering_plan_t *plan)
{
    drawing_t drawing = {.plan = plan, .at = predict_situation(predict)};

    if (1 == plan->ring.size && !mca_coll_pipering_in_rounds(plan->row)) {
        for (; drawing.pipe < plan->pipes; ++drawing.pipe) {
            draw_tree(&drawing);
        }
    }
}
